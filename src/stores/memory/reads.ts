/** Reads of the memory store. */
import type { Entry, MessageBody } from "../../domain/entry.ts";
import { HoldfastError } from "../../domain/errors.ts";
import type { Message } from "../../domain/message.ts";
import type { CommittedRow, ReadAll, ReadThread, RunKey, RunRow, TicketFilter, TicketRow } from "../../ports/store.ts";
import type { MemoryRun, MemoryTicket, ScopeData } from "./data.ts";
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

export function readAll(scope: ScopeData, request: ReadAll): readonly CommittedRow[] {
  let from = scope.journal.length;
  while (from > 0 && (scope.journal[from - 1]?.position ?? 0) > request.after) from -= 1;
  const commits = scope.journal.slice(from, from + request.limit);
  return commits.map(({ position, run, entries }) => ({ scope: request.scope, run: run.id, position, entries }));
}

export function readThread(scope: ScopeData, request: ReadThread): readonly Message[] {
  const started = scope.threads.get(request.thread)?.started ?? [];
  const newestFirst: Message[] = [];
  for (const run of backwards(started)) {
    for (const commit of backwards(run.commits)) {
      for (const entry of backwards(commit.entries)) {
        if (newestFirst.length >= request.limit) return newestFirst.reverse();
        if (entry.type === "message-appended") newestFirst.push(bodyOf(run, entry.body));
      }
    }
  }
  return newestFirst.reverse();
}

/** Without a copy: a window over a long journal must not cost its length. */
function* backwards<T>(items: readonly T[]): Generator<T> {
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index];
    if (item !== undefined) yield item;
  }
}

function bodyOf(run: MemoryRun, body: MessageBody): Message {
  if (body.kind === "here") return body.message;
  const source = entryAt(run, body.kind === "created" ? 1 : body.from);
  const message = messageIn(source, body);
  if (!message)
    throw new HoldfastError("entry-unreadable", `Run ${run.id}: a message points to an entry that holds none`);
  return message;
}

function messageIn(source: Entry | undefined, body: MessageBody): Message | undefined {
  if (source?.type === "run-created" && body.kind === "created") return source.input[body.index];
  return source?.type === "input-received" ? source.message : undefined;
}

function entryAt(run: MemoryRun, seq: number): Entry | undefined {
  const commit = run.commits.findLast((each) => (each.entries[0]?.seq ?? 0) <= seq);
  return commit?.entries.find((entry) => entry.seq === seq);
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
  const { status, id, run, rootRun, thread, tool, call, kind } = filter;
  if (status !== undefined && (status === "decided") !== (settlement !== undefined)) return false;
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
