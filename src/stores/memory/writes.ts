/**
 * Birth and the worker door of the memory store. Each function checks everything before it changes anything, and
 * awaits nothing, so that a call is one transaction (S4).
 */
import type { Entry } from "../../domain/entry.ts";
import { type RowChanges, rowChanges } from "../../domain/row-changes.ts";
import type { Birth, BirthAnswer, Commit, CommitAnswer, Release } from "../../ports/store.ts";
import {
  afterTheEnd,
  type Expectation,
  emptyCommit,
  inputNotUnread,
  journalRegressed,
  ticketNotOpen,
  ticketTaken,
} from "../shared/refusals.ts";
import { append, type MemoryRun, type MemoryThread, reschedule, type ScopeData } from "./data.ts";

export function create(scope: ScopeData, birth: Birth, now: number): BirthAnswer {
  const { identity, manifest } = birth.entry;
  const first = scope.starts.get(birth.key);
  if (first) return { kind: first.requestHash === birth.requestHash ? "existing" : "conflict", run: first.run };
  if (scope.runs.has(identity.run)) return { kind: "run-exists" };
  const thread = scope.threads.get(identity.thread) ?? newThread(scope, birth);
  const run = newRun(scope, birth, { thread, now });
  if (thread.active) thread.queue.push(run);
  else thread.active = run;
  scope.runs.set(run.id, run);
  scope.starts.set(birth.key, { run: run.id, requestHash: birth.requestHash });
  if (!scope.manifests.has(manifest.fingerprint)) scope.manifests.set(manifest.fingerprint, birth.manifest);
  append(scope, run, { bodies: [birth.entry], at: now, epoch: null });
  reschedule(scope, run);
  return { kind: "created", queued: run.queued };
}

function newThread(scope: ScopeData, birth: Birth): MemoryThread {
  const id = birth.entry.identity.thread;
  const thread: MemoryThread = { id, position: 0, active: undefined, queue: [], started: [] };
  scope.threads.set(id, thread);
  return thread;
}

function newRun(
  scope: ScopeData,
  birth: Birth,
  place: { readonly thread: MemoryThread; readonly now: number },
): MemoryRun {
  const { identity, manifest } = birth.entry;
  scope.counters.runs += 1;
  return {
    no: scope.counters.runs,
    id: identity.run,
    thread: place.thread,
    agent: identity.agent,
    fingerprint: manifest.fingerprint,
    createdAt: place.now,
    commits: [],
    posts: new Map(),
    inputs: new Map(),
    evidence: [],
    status: "created",
    queued: place.thread.active !== undefined,
    epoch: 0,
    head: 0,
    crashes: 0,
    unread: 0,
    leaseUntil: undefined,
    wake: undefined,
    claimId: undefined,
    startPosition: undefined,
    cancelSeq: undefined,
    snapshot: undefined,
  };
}

export function commit(scope: ScopeData, wanted: Commit, now: number): CommitAnswer {
  const run = scope.runs.get(wanted.run);
  if (!run || run.epoch !== wanted.epoch) return { kind: "fenced" };
  const behind = notAtHead(run, wanted);
  if (behind) return behind;
  if (run.status === "done") throw afterTheEnd(run.id);
  if (wanted.entries.length === 0) throw emptyCommit(run.id);
  const changes = rowChanges(wanted.entries);
  checkChanges(scope, run, changes);
  const seq = append(scope, run, { bodies: wanted.entries, at: now, epoch: wanted.epoch });
  changeTickets(scope, changes, { seq, at: now });
  takeInputs(run, changes);
  if (changes.startPosition !== undefined) start(run, changes.startPosition);
  if (changes.progressed) run.crashes = 0;
  if (changes.status !== undefined) changeStatus(scope, run, { ...changes, status: changes.status, wanted });
  return { kind: "committed", at: now };
}

export function release(scope: ScopeData, wanted: Release, now: number): CommitAnswer {
  const run = scope.runs.get(wanted.run);
  if (!run || run.epoch !== wanted.epoch) return { kind: "fenced" };
  const behind = notAtHead(run, wanted);
  if (behind) return behind;
  if (run.status !== "done") {
    run.leaseUntil = undefined;
    run.wake = wanted.wake;
    run.crashes = 0;
    reschedule(scope, run);
  }
  return { kind: "committed", at: now };
}

function notAtHead(run: MemoryRun, wanted: Expectation): CommitAnswer | undefined {
  if (wanted.expectedSeq > run.head) throw journalRegressed(wanted, run.head);
  if (wanted.expectedSeq < run.head) return { kind: "behind", entries: entriesAfter(run, wanted.expectedSeq) };
  return undefined;
}

export function entriesAfter(run: MemoryRun, seq: number, limit: number = Number.POSITIVE_INFINITY): readonly Entry[] {
  let from = run.commits.length;
  while (from > 0 && lastSeq(run, from - 1) > seq) from -= 1;
  const commits = run.commits.slice(from, from + limit);
  return commits.flatMap((each) => each.entries.filter((entry) => entry.seq > seq));
}

function lastSeq(run: MemoryRun, index: number): number {
  return run.commits[index]?.entries.at(-1)?.seq ?? 0;
}

function checkChanges(scope: ScopeData, run: MemoryRun, changes: RowChanges): void {
  const opened = new Set<string>();
  for (const { id } of changes.opened) {
    if (scope.tickets.has(id) || opened.has(id)) throw ticketTaken(id);
    opened.add(id);
  }
  for (const { decided } of changes.decided) {
    const ticket = scope.tickets.get(decided.ticket);
    const isOpen = opened.delete(decided.ticket) || (ticket?.ticket.run === run.id && !ticket.settlement);
    if (!isOpen) throw ticketNotOpen(decided.ticket);
  }
  for (const input of changes.takenInputs) {
    const known = run.inputs.get(input);
    if (!known || known.taken || known.withdrawnSeq !== undefined) throw inputNotUnread(input);
  }
}

function changeTickets(
  scope: ScopeData,
  changes: RowChanges,
  first: { readonly seq: number; readonly at: number },
): void {
  for (const ticket of changes.opened) {
    const row = { ticket, settlement: undefined };
    scope.tickets.set(ticket.id, row);
    scope.openTickets.add(row);
  }
  for (const { decided, index } of changes.decided) {
    const row = scope.tickets.get(decided.ticket);
    if (!row) throw ticketNotOpen(decided.ticket);
    const { ticket, decision, by, key } = decided;
    row.settlement = { ticket, decision, by, at: first.at, key, seq: first.seq + index };
    scope.openTickets.delete(row);
  }
}

function takeInputs(run: MemoryRun, changes: RowChanges): void {
  for (const input of changes.takenInputs) {
    const known = run.inputs.get(input);
    if (known) run.inputs.set(input, { ...known, taken: true });
    run.unread -= 1;
  }
}

/** Runs of a thread start in the order of their positions, but for the odd one that started where another had ended. */
function start(run: MemoryRun, position: number): void {
  const { started } = run.thread;
  if (run.startPosition === undefined) started.push(run);
  run.startPosition = position;
  started.sort((a, b) => (a.startPosition ?? 0) - (b.startPosition ?? 0) || a.no - b.no);
}

interface StatusChange extends RowChanges {
  readonly status: NonNullable<RowChanges["status"]>;
  readonly wanted: Commit;
}

function changeStatus(scope: ScopeData, run: MemoryRun, change: StatusChange): void {
  run.status = change.status;
  run.wake = change.status === "done" ? undefined : change.wanted.wake;
  if (change.status !== "running") run.leaseUntil = undefined;
  if (change.status === "done") end(scope, run, change.wanted.position + change.messages);
  reschedule(scope, run);
}

/** S8. A run that ends while it is queued leaves the thread to its active run. */
function end(scope: ScopeData, run: MemoryRun, position: number): void {
  const { thread } = run;
  if (run.queued) {
    run.queued = false;
    thread.queue.splice(thread.queue.indexOf(run), 1);
    return;
  }
  thread.position = Math.max(thread.position, position);
  const next = thread.queue.shift();
  thread.active = next;
  if (!next) return;
  next.queued = false;
  reschedule(scope, next);
}
