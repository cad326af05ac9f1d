/** Lists of tickets, in the order they were opened. */
import { type SettlementRecord, type TicketKind, type TicketRecord, ticketVerbs } from "../../domain/ticket.ts";
import type { TicketFilter, TicketRow } from "../../ports/store.ts";
import type { Queries } from "./database.ts";

interface StoredTicket {
  readonly record: string;
  readonly settlement: string | null;
}

/** A limit of null is none. */
export async function listTickets(
  db: Queries,
  filter: Omit<TicketFilter, "limit"> & { readonly limit: number | null },
): Promise<readonly TicketRow[]> {
  const { sql, values } = ticketQuery(filter);
  return (await db.all<StoredTicket>(sql, [...values, filter.limit])).map(ticketRow);
}

interface Query {
  readonly sql: string;
  readonly values: readonly (string | readonly string[])[];
}

/** One statement per combination of filters, each prepared once. The limit is the last parameter. */
export function ticketQuery(filter: Omit<TicketFilter, "limit">): Query {
  const { scope, status, id, run, rootRun, thread, tool, call, kind, agents } = filter;
  const asked = [
    ["scope = ?", scope],
    ["id = ?", id],
    ["run = (SELECT no FROM hf.runs WHERE scope = $1 AND id = ?)", run],
    ["root_run = ?", rootRun],
    ["thread_id = ?", thread],
    ["tool = ?", tool],
    ["call = ?", call],
    ["agent = ANY (?::text[])", agents],
  ].filter((pair): pair is [string, string | readonly string[]] => pair[1] !== undefined);
  const state = status === undefined ? [] : [status === "open" ? "settlement IS NULL" : "settlement IS NOT NULL"];
  const conditions = [...asked.map(([sql], index) => sql.replace("?", `$${index + 1}`)), ...kindIs(kind), ...state];
  return {
    sql: `SELECT record, settlement FROM hf.tickets WHERE ${conditions.join(" AND ")} ORDER BY no LIMIT $${asked.length + 1}`,
    values: asked.map(([, value]) => value),
  };
}

/** As a literal: a server that plans for any kind would walk over all tickets to find those of a rare one. */
function kindIs(kind: TicketKind | undefined): readonly string[] {
  if (kind === undefined) return [];
  return [Object.hasOwn(ticketVerbs, kind) ? `kind = '${kind}'` : "false"];
}

function ticketRow({ record, settlement }: StoredTicket): TicketRow {
  const ticket = JSON.parse(record) as TicketRecord;
  return settlement === null ? { ticket } : { ticket, settlement: JSON.parse(settlement) as SettlementRecord };
}
