/**
 * Projections of commits: tickets opened and settled, inputs taken. Each is one statement for all commits of a group.
 * `settlement` is written once, where it is still NULL (S5); a row that does not take its change throws, and the whole
 * transaction is undone.
 */
import type { TicketDecided } from "../../domain/entry.ts";
import type { SettlementRecord } from "../../domain/ticket.ts";
import { inputNotUnread, ticketNotOpen, ticketTaken } from "../shared/refusals.ts";
import type { Tx } from "./access.ts";
import type { PreparedCommit } from "./commit-rows.ts";

export interface TakenCommit extends PreparedCommit {
  readonly no: number;
  readonly thread: number;
  readonly at: number;
}

const insertTickets = `INSERT INTO hf.tickets (scope, id, run, root_run, thread_id, kind, agent, tool, call, record)
  SELECT scope, id, run, root_run, thread_id, kind, agent, tool, call, record
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
      $10::text[])
    WITH ORDINALITY AS opened (scope, id, run, root_run, thread_id, kind, agent, tool, call, record, ord)
  ORDER BY ord ON CONFLICT DO NOTHING RETURNING id`;

export async function openTickets(tx: Tx, taken: readonly TakenCommit[]): Promise<void> {
  const rows = taken.flatMap(({ commit, changes, no }) =>
    changes.opened.map((ticket) => {
      const { id, rootRun, thread, kind, agent, call } = ticket;
      const subject = [kind, agent, call?.tool ?? null, call?.id ?? null, JSON.stringify(ticket)];
      return [commit.scope, id, no, rootRun, thread, ...subject];
    }),
  );
  if (rows.length === 0) return;
  const stored = (await tx.all<{ id: string }>(insertTickets, columnsOf(rows))).map(({ id }) => id);
  if (stored.length === rows.length) return;
  const ids = rows.map((row) => String(row[1]));
  throw ticketTaken(ids.find((id, index) => !stored.includes(id) || ids.indexOf(id) !== index) ?? "");
}

const settle = `UPDATE hf.tickets SET settlement = decided.settlement
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) AS decided (scope, id, run, settlement)
  WHERE tickets.scope = decided.scope AND tickets.id = decided.id AND tickets.run = decided.run
    AND tickets.settlement IS NULL RETURNING tickets.id`;

export async function settleTickets(tx: Tx, taken: readonly TakenCommit[]): Promise<void> {
  const rows = taken.flatMap(({ commit, changes, no, at }) =>
    changes.decided.map(({ decided, index }) => {
      const settlement = settlementOf(decided, { seq: commit.expectedSeq + 1 + index, at });
      return [commit.scope, decided.ticket, no, JSON.stringify(settlement)];
    }),
  );
  if (rows.length === 0) return;
  const settled = (await tx.all<{ id: string }>(settle, columnsOf(rows))).map(({ id }) => id);
  if (settled.length === rows.length) return;
  const ids = rows.map((row) => String(row[1]));
  throw ticketNotOpen(ids.find((id, index) => !settled.includes(id) || ids.indexOf(id) !== index) ?? "");
}

export function settlementOf(
  fact: TicketDecided,
  place: { readonly seq: number; readonly at: number },
): SettlementRecord {
  const { ticket, decision, by, key } = fact;
  return { ticket, decision, by, at: place.at, key, seq: place.seq };
}

const take = `UPDATE hf.inbox SET taken = true FROM unnest($1::bigint[], $2::text[]) AS read (run, input)
  WHERE inbox.run = read.run AND inbox.input = read.input AND NOT inbox.taken AND inbox.withdrawn_seq IS NULL
  RETURNING inbox.input`;

export async function takeInputs(tx: Tx, taken: readonly TakenCommit[]): Promise<void> {
  const rows = taken.flatMap(({ changes, no }) => changes.takenInputs.map((input) => [no, input]));
  if (rows.length === 0) return;
  const read = (await tx.all<{ input: string }>(take, columnsOf(rows))).map(({ input }) => input);
  if (read.length === rows.length) return;
  const inputs = rows.map((row) => String(row[1]));
  throw inputNotUnread(inputs.find((input, index) => !read.includes(input) || inputs.indexOf(input) !== index) ?? "");
}

/** Rows turned on their side: one array per column. */
export function columnsOf(rows: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]));
}
