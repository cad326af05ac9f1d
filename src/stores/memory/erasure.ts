/**
 * Whole runs and threads, and nothing less, leave the store (L10, H3). What is not done is never erased; numbers and
 * positions go on from where they were.
 */
import type { RunId } from "../../domain/ids.ts";
import type { Delivery } from "../../ports/outbox-store.ts";
import type { RunKey } from "../../ports/store.ts";
import type { DeleteAnswer, DeleteThread, PruneRuns } from "../../ports/thread-store.ts";
import { endedBefore } from "../shared/ended-before.ts";
import { toldTicket } from "../shared/outbox-rows.ts";
import type { MemoryRun, MemoryThread, ScopeData } from "./data.ts";
import { insertInOrder, remove } from "./pages.ts";

export function deleteThread(scope: ScopeData, what: DeleteThread): DeleteAnswer {
  const thread = scope.threads.get(what.thread);
  if (!thread) return { kind: "not-found" };
  const { length } = thread.children;
  if (what.children === "reject" && length > 0) return { kind: "has-children", children: length };
  const doomed = what.children === "cascade" ? family(thread) : [thread];
  const runs = doomed.flatMap((each) => each.runs);
  const [busy] = runs.filter((run) => run.status !== "done").sort((a, b) => a.no - b.no);
  const kept = busy ?? firstUntold(scope, runs);
  if (kept) return { kind: "busy", run: kept.id };
  eraseRuns(scope, runs);
  for (const child of what.children === "cascade" ? [] : thread.children) {
    child.parent = undefined;
    insertInOrder(scope.roots, child);
  }
  for (const each of doomed) removeThread(scope, each);
  return { kind: "deleted", threads: doomed.length, runs: runs.length };
}

export function eraseRun(scope: ScopeData, key: RunKey): DeleteAnswer {
  const run = scope.runs.get(key.run);
  if (!run) return { kind: "not-found" };
  if (run.status !== "done" || firstUntold(scope, [run])) return { kind: "busy", run: run.id };
  eraseRuns(scope, [run]);
  return { kind: "deleted", threads: 0, runs: 1 };
}

/** O5: its parent still waits to be told that it has ended. */
function firstUntold(scope: ScopeData, runs: readonly MemoryRun[]): MemoryRun | undefined {
  const isAwaited = (delivery: Delivery): boolean => {
    const ticket = toldTicket(delivery);
    const row = ticket && scope.tickets.get(ticket);
    return row !== undefined && !row.settlement;
  };
  const untold = new Set([...scope.outbox].filter(({ delivery }) => isAwaited(delivery)).map(({ run }) => run));
  return runs.filter((run) => untold.has(run)).sort((a, b) => a.no - b.no)[0];
}

/** H5. */
export function prune(scope: ScopeData, what: PruneRuns, now: number): readonly RunId[] {
  const before = endedBefore(what, now);
  const sources = new Set([...scope.outbox].map((row) => row.run));
  const old = scope.runList.filter((run) => run.endedAt !== undefined && run.endedAt < before && !sources.has(run));
  old.sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0) || a.no - b.no);
  const doomed = old.slice(0, Math.max(0, what.limit));
  eraseRuns(scope, doomed);
  return doomed.map((run) => run.id);
}

/** The thread and all its descendants. */
function family(thread: MemoryThread): readonly MemoryThread[] {
  return [thread, ...thread.children.flatMap(family)];
}

function removeThread(scope: ScopeData, thread: MemoryThread): void {
  scope.threads.delete(thread.id);
  remove(scope.threadList, thread);
  remove(thread.parent?.children ?? scope.roots, thread);
}

function eraseRuns(scope: ScopeData, runs: readonly MemoryRun[]): void {
  if (runs.length === 0) return;
  const gone = new Set(runs);
  const last = scope.journal.findLast((commit) => gone.has(commit.run));
  scope.erasedUpTo = Math.max(scope.erasedUpTo, last?.position ?? 0);
  scope.counters.commits += 1; // an erasure has a position of its own, so that `head` tells of it
  scope.journal = scope.journal.filter((commit) => !gone.has(commit.run));
  for (const [id, row] of scope.tickets) {
    const owner = scope.runs.get(row.ticket.run);
    if (!owner || !gone.has(owner)) continue;
    scope.tickets.delete(id);
    scope.openTickets.delete(row);
  }
  for (const row of scope.outbox) if (gone.has(row.run)) scope.outbox.delete(row);
  for (const run of runs) removeRun(scope, run);
}

function removeRun(scope: ScopeData, run: MemoryRun): void {
  const { thread } = run;
  for (const key of run.startKeys) scope.starts.delete(key);
  scope.runs.delete(run.id);
  remove(scope.runList, run);
  remove(thread.runs, run);
  const index = thread.started.indexOf(run);
  if (index === -1) return;
  thread.started.splice(index, 1);
  const entries = run.commits.flatMap((commit) => commit.entries);
  thread.erased += entries.filter((entry) => entry.type === "message-appended").length;
}
