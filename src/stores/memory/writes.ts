/**
 * The worker door of the memory store. Each function checks everything before it changes anything, and
 * awaits nothing, so that a call is one transaction (S4).
 */
import { contentIn } from "../../domain/cites.ts";
import type { Entry } from "../../domain/entry.ts";
import { type RowChanges, rowChanges } from "../../domain/row-changes.ts";
import type { Commit, CommitAnswer, Release } from "../../ports/store.ts";
import { checkSuccessor } from "../shared/check-successor.ts";
import {
  afterTheEnd,
  type Expectation,
  emptyCommit,
  inputNotUnread,
  journalRegressed,
  notItsThread,
  notTransactional,
  runTaken,
  ticketNotOpen,
  ticketTaken,
} from "../shared/refusals.ts";
import { checkCites } from "./content.ts";
import { append, type MemoryRun, reschedule, type ScopeData } from "./data.ts";
import { addRun } from "./new-run.ts";
import { addDeliveries } from "./outbox.ts";

export function commit(scope: ScopeData, wanted: Commit, now: number): CommitAnswer {
  const run = scope.runs.get(wanted.run);
  if (!run || run.epoch !== wanted.epoch) return { kind: "fenced" };
  const behind = notAtHead(run, wanted);
  if (behind) return behind;
  if (run.status === "done") throw afterTheEnd(run.id);
  if (wanted.transaction) throw notTransactional(run.id);
  if (wanted.entries.length === 0) throw emptyCommit(run.id);
  const changes = rowChanges(wanted.entries);
  checkChanges(scope, run, changes);
  checkBirth(scope, run, { wanted, changes });
  checkCites(scope, run.id, changes.cites);
  const { entries: bodies, epoch, position } = wanted;
  const seq = append(scope, run, { bodies, at: now, epoch, before: position });
  run.placed = position + changes.messages;
  changeTickets(scope, changes, { seq, at: now });
  takeInputs(run, changes);
  for (const slot of changes.slots) run.thread.state.set(slot.key, slot);
  for (const hash of changes.cites) run.cites.add(hash);
  addDeliveries(scope, run, { deliveries: wanted.deliveries ?? [], seq, now });
  if (changes.startPosition !== undefined) start(run, changes.startPosition);
  if (changes.progressed) run.crashes = 0;
  if (changes.status !== undefined) changeStatus(scope, run, { ...changes, status: changes.status, wanted, now });
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
  if (changes.slots.length > 0 && run.queued) throw notItsThread(run.id);
}

function checkBirth(
  scope: ScopeData,
  run: MemoryRun,
  { wanted, changes }: { readonly wanted: Commit; readonly changes: RowChanges },
): void {
  checkSuccessor(wanted, { thread: run.thread.id, queued: run.queued, status: changes.status });
  const born = wanted.successor?.entry.identity.run;
  if (born !== undefined && scope.runs.has(born)) throw runTaken(born);
  if (wanted.successor) checkCites(scope, born ?? run.id, contentIn([wanted.successor.entry]));
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
export function start(run: MemoryRun, position: number): void {
  const { started } = run.thread;
  if (run.startPosition === undefined) started.push(run);
  run.startPosition = position;
  started.sort((a, b) => (a.startPosition ?? 0) - (b.startPosition ?? 0) || a.no - b.no);
}

interface StatusChange extends RowChanges {
  readonly status: NonNullable<RowChanges["status"]>;
  readonly wanted: Commit;
  readonly now: number;
}

function changeStatus(scope: ScopeData, run: MemoryRun, change: StatusChange): void {
  run.status = change.status;
  run.wake = change.status === "done" ? undefined : change.wanted.wake;
  if (change.status !== "running") run.leaseUntil = undefined;
  if (change.status === "done") end(scope, run, change);
  reschedule(scope, run);
}

/** S8. A run that ends while it is queued leaves the thread to its active run. */
function end(scope: ScopeData, run: MemoryRun, { now, wanted }: StatusChange): void {
  const { thread } = run;
  thread.updatedAt = now;
  run.endedAt = now;
  if (run.queued) {
    run.queued = false;
    thread.queue.splice(thread.queue.indexOf(run), 1);
    return;
  }
  thread.position = Math.max(thread.position, run.placed);
  const next = wanted.successor ? addRun(scope, wanted.successor, { thread, now }) : thread.queue.shift();
  thread.active = next;
  if (!next) return;
  next.queued = false;
  next.ready = Math.max(next.ready, now);
  reschedule(scope, next);
}
