/** Births of runs and threads in the memory store: everything is checked before anything is changed (S4). */
import { contentIn } from "../../domain/cites.ts";
import type { Birth } from "../../ports/birth.ts";
import type { BirthAnswer, BusyRun, NewThread, NewThreadAnswer } from "../../ports/store.ts";
import { isRefused, takeover } from "../shared/busy-rule.ts";
import { type HistoryRun, readHistory } from "../shared/read-history.ts";
import { runTaken, startKeyTaken } from "../shared/refusals.ts";
import { checkCites } from "./content.ts";
import { append, type MemoryRun, type MemoryThread, reschedule, type ScopeData } from "./data.ts";
import { addRun } from "./new-run.ts";
import { start } from "./writes.ts";

export function create(scope: ScopeData, birth: Birth, now: number): BirthAnswer {
  const { identity } = birth.entry;
  const first = scope.starts.get(birth.key);
  if (first) return { kind: first.requestHash === birth.requestHash ? "existing" : "conflict", run: first.run };
  if (scope.runs.has(identity.run)) return { kind: "run-exists" };
  if (!isWanted(scope, birth)) return { kind: "unwanted" };
  const known = scope.threads.get(identity.thread);
  const active = known?.active;
  if (active && isRefused(birth.whenBusy, active.status)) return { kind: "busy", active: busyRun(scope, active) };
  checkCites(scope, identity.run, contentIn([birth.entry]));
  const thread = known ?? addThread(scope, newThread(scope, birth), now);
  if (active) askToEnd(scope, active, { birth, now });
  const run = addRun(scope, birth, { thread, now });
  run.queued = active !== undefined;
  if (!active) thread.active = run;
  else if (takeover(birth)) thread.queue.unshift(run);
  else thread.queue.push(run);
  reschedule(scope, run);
  return { kind: "created", queued: run.queued };
}

/** S14. */
function isWanted(scope: ScopeData, { entry }: Birth): boolean {
  const ticket = entry.delegated && scope.tickets.get(entry.delegated.ticket);
  return !entry.delegated || (ticket !== undefined && !ticket.settlement);
}

/** The thread of a delegate's run is below its parent's, while that is there. */
function newThread(scope: ScopeData, { entry }: Birth): Omit<NewThread, "history"> {
  const { scope: name, thread, parentThread: parent } = entry.identity;
  const isThere = parent !== undefined && scope.threads.has(parent);
  return { scope: name, thread, ...(isThere ? { parent } : {}) };
}

function busyRun(scope: ScopeData, { id: run, status }: MemoryRun): BusyRun {
  const tickets = [...scope.openTickets].map(({ ticket }) => ticket).filter((ticket) => ticket.run === run);
  return { run, status, tickets };
}

/** One request to cancel is enough: a second one would change nothing. */
function askToEnd(
  scope: ScopeData,
  active: MemoryRun,
  { birth, now }: { readonly birth: Birth; readonly now: number },
): void {
  const request = takeover(birth);
  if (!request || active.cancelSeq !== undefined) return;
  active.cancelSeq = append(scope, active, { bodies: [request], at: now, epoch: null });
  active.wake = now;
  reschedule(scope, active);
}

export function createThread(scope: ScopeData, wanted: NewThread, now: number): NewThreadAnswer {
  if (scope.threads.has(wanted.thread)) return { kind: "exists" };
  if (wanted.parent === wanted.thread) return { kind: "cycle" };
  if (wanted.parent !== undefined && !scope.threads.has(wanted.parent)) return { kind: "parent-not-found" };
  const history = wanted.history && readHistory(wanted, wanted.history);
  if (wanted.history) checkFree(scope, wanted.history);
  const thread = addThread(scope, wanted, now);
  if (wanted.history && history) addHistory(scope, thread, { ...wanted.history, ...history, now });
  return { kind: "created" };
}

function checkFree(scope: ScopeData, { birth, rest }: NonNullable<NewThread["history"]>): void {
  const { key, entry } = birth;
  const first = scope.starts.get(key);
  if (first) throw startKeyTaken(key, first.run);
  if (scope.runs.has(entry.identity.run)) throw runTaken(entry.identity.run);
  checkCites(scope, entry.identity.run, contentIn([entry, ...rest]));
}

function addHistory(
  scope: ScopeData,
  thread: MemoryThread,
  history: NonNullable<NewThread["history"]> & HistoryRun & { readonly now: number },
): void {
  const { birth, rest: bodies, startPosition, messages, now } = history;
  const run = addRun(scope, birth, { thread, now });
  append(scope, run, { bodies, at: now, epoch: null, before: startPosition });
  for (const hash of contentIn(bodies)) run.cites.add(hash);
  run.status = "done";
  run.endedAt = now;
  run.wake = undefined;
  run.placed = startPosition + messages;
  thread.position = run.placed;
  start(run, startPosition);
}

function addThread(scope: ScopeData, wanted: Omit<NewThread, "history">, now: number): MemoryThread {
  scope.counters.threads += 1;
  const parent = wanted.parent === undefined ? undefined : scope.threads.get(wanted.parent);
  const thread: MemoryThread = {
    no: scope.counters.threads,
    id: wanted.thread,
    createdAt: now,
    updatedAt: now,
    title: wanted.title,
    metadata: wanted.metadata ?? {},
    parent,
    children: [],
    runs: [],
    position: 0,
    erased: 0,
    active: undefined,
    queue: [],
    started: [],
    state: new Map(),
  };
  scope.threads.set(thread.id, thread);
  scope.threadList.push(thread);
  (parent?.children ?? scope.roots).push(thread);
  return thread;
}
