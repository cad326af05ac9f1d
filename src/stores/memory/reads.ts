/** Reads of runs, tickets and the journal over many runs. */
import type { CommittedRow, ReadAll, RunKey, RunRow, TicketFilter, TicketRow } from "../../ports/store.ts";
import type { MemoryCommit, MemoryTicket, ScopeData } from "./data.ts";
import { ticketRow } from "./post.ts";

export function runRow(scope: ScopeData, key: RunKey): RunRow | undefined {
  const run = scope.runs.get(key.run);
  if (!run) return undefined;
  const { leaseUntil, wake, startPosition } = run;
  return {
    scope: key.scope,
    run: run.id,
    thread: run.thread.id,
    agent: run.agent,
    status: run.status,
    queued: run.queued,
    epoch: run.epoch,
    head: run.head,
    crashes: run.crashes,
    ...(leaseUntil === undefined ? {} : { leaseUntil }),
    ...(wake === undefined ? {} : { wake }),
    ...(startPosition === undefined ? {} : { startPosition }),
    fingerprint: run.fingerprint,
    createdAt: run.createdAt,
  };
}

/** Walks the scope's own journal from `after` on; of other scopes it sees nothing. */
export function readAll(scope: ScopeData, request: ReadAll): readonly CommittedRow[] {
  let from = scope.journal.length;
  while (from > 0 && (scope.journal[from - 1]?.position ?? 0) > request.after) from -= 1;
  const found: CommittedRow[] = [];
  for (; from < scope.journal.length && found.length < request.limit; from += 1) {
    const commit = scope.journal[from];
    if (commit && isAskedFor(commit, request)) found.push(committedRow(commit, request));
  }
  return found;
}

function isAskedFor({ run }: MemoryCommit, { thread, agent }: ReadAll): boolean {
  return (thread ?? run.thread.id) === run.thread.id && (agent ?? run.agent) === run.agent;
}

function committedRow({ position, run, entries }: MemoryCommit, { scope }: ReadAll): CommittedRow {
  return { scope, run: run.id, thread: run.thread.id, agent: run.agent, position, entries };
}

export function tickets(scope: ScopeData, filter: TicketFilter): readonly TicketRow[] {
  const found: TicketRow[] = [];
  const rows = filter.status === "open" ? scope.openTickets : scope.tickets.values();
  for (const row of rows) {
    if (found.length >= filter.limit) break;
    if (fits(row, filter)) found.push(ticketRow(row));
  }
  return found;
}

function fits({ ticket, settlement }: MemoryTicket, filter: TicketFilter): boolean {
  const { status, id, run, rootRun, thread, tool, call, kind, agents } = filter;
  if (status !== undefined && (status === "decided") !== (settlement !== undefined)) return false;
  if (agents && !agents.includes(ticket.agent)) return false;
  const pairs = [
    [id, ticket.id],
    [run, ticket.run],
    [rootRun, ticket.rootRun],
    [thread, ticket.thread],
    [tool, ticket.call?.tool],
    [call, ticket.call?.id],
    [kind, ticket.kind],
  ];
  return pairs.every(([wanted, actual]) => wanted === undefined || wanted === actual);
}
