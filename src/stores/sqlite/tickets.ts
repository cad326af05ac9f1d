/** Ticket rows: projections of ticket-opened and ticket-decided. `settlement` is written once, where it is still NULL (S5). */

import type { SQLInputValue } from "node:sqlite";
import type { TicketDecided } from "../../domain/entry.ts";
import type { Scope } from "../../domain/ids.ts";
import type { RowChanges } from "../../domain/row-changes.ts";
import type { SettlementRecord, TicketRecord } from "../../domain/ticket.ts";
import type { TicketFilter, TicketRow } from "../../ports/store.ts";
import { ticketNotOpen, ticketTaken } from "../shared/refusals.ts";
import type { Connection } from "./database.ts";
import type { Place } from "./places.ts";

const insertTicket = `INSERT INTO tickets (scope, id, run, run_id, root_run, thread_id, kind, agent, tool, call, record)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

export function openTickets(
  db: Connection,
  place: Place,
  added: { readonly scope: Scope; readonly opened: readonly TicketRecord[] },
): void {
  for (const ticket of added.opened) {
    const { id, run, rootRun, thread, kind, agent, call } = ticket;
    const subject = [kind, agent, call?.tool ?? null, call?.id ?? null, JSON.stringify(ticket)] as const;
    if (db.run(insertTicket, added.scope, id, place.no, run, rootRun, thread, ...subject) === 0) throw ticketTaken(id);
  }
}

export interface Decided {
  readonly scope: Scope;
  readonly decided: RowChanges["decided"];
  readonly firstSeq: number;
  readonly at: number;
}

const settleTicket = "UPDATE tickets SET settlement = ? WHERE scope = ? AND id = ? AND run = ? AND settlement IS NULL";

export function settleTickets(
  db: Connection,
  place: Pick<Place, "no">,
  { scope, decided, firstSeq, at }: Decided,
): void {
  for (const { decided: fact, index } of decided) {
    const settlement = JSON.stringify(settlementOf(fact, { seq: firstSeq + index, at }));
    if (db.run(settleTicket, settlement, scope, fact.ticket, place.no) === 0) throw ticketNotOpen(fact.ticket);
  }
}

export function settlementOf(
  fact: TicketDecided,
  place: { readonly seq: number; readonly at: number },
): SettlementRecord {
  const { ticket, decision, by, key } = fact;
  return { ticket, decision, by, at: place.at, key, seq: place.seq };
}

interface StoredTicket {
  readonly record: string;
  readonly settlement: string | null;
}

export function findTicket(db: Connection, scope: Scope, id: string): TicketRow | undefined {
  const sql = "SELECT record, settlement FROM tickets WHERE scope = ? AND id = ?";
  const row = db.get<StoredTicket>(sql, scope, id);
  return row && ticketRow(row);
}

export function listTickets(db: Connection, filter: TicketFilter): readonly TicketRow[] {
  const { where, values } = conditions(filter);
  const sql = `SELECT record, settlement FROM tickets ${indexFor(filter)} WHERE ${where} ORDER BY no LIMIT ?`;
  return db.all<StoredTicket>(sql, ...values, filter.limit).map(ticketRow);
}

/** What every worker asks every few seconds must not walk over all open tickets, as the order alone would suggest. */
function indexFor({ agents, kind, status }: TicketFilter): string {
  return agents && kind !== undefined && status === "open" ? "INDEXED BY tickets_open_by_kind" : "";
}

/** One statement per combination of filters, each prepared once. */
function conditions(filter: TicketFilter): { readonly where: string; readonly values: readonly SQLInputValue[] } {
  const { scope, status, id, run, rootRun, thread, tool, call, kind, agents } = filter;
  const equal: readonly (readonly [string, ...(string | undefined)[]])[] = [
    ["scope = ?", scope],
    ["id = ?", id],
    ["run = (SELECT no FROM runs WHERE scope = ? AND id = ?)", scope, run],
    ["root_run = ?", rootRun],
    ["thread_id = ?", thread],
    ["tool = ?", tool],
    ["call = ?", call],
    ["kind = ?", kind],
    ["agent IN (SELECT value FROM json_each(?))", agents && JSON.stringify(agents)],
  ];
  const asked = equal.filter(([, ...values]) => !values.includes(undefined)) as readonly (readonly string[])[];
  const state = status === undefined ? [] : [status === "open" ? "settlement IS NULL" : "settlement IS NOT NULL"];
  const where = [...asked.map(([sql]) => sql), ...state].join(" AND ");
  return { where, values: asked.flatMap(([, ...values]) => values) };
}

function ticketRow({ record, settlement }: StoredTicket): TicketRow {
  const ticket = JSON.parse(record) as TicketRecord;
  return settlement === null ? { ticket } : { ticket, settlement: JSON.parse(settlement) as SettlementRecord };
}
