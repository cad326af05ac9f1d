/** When a run rests: nothing of it moves without somebody. A delegate that is at work moves. */
import type { RunId } from "../domain/ids.ts";
import type { RunRow, Store, TicketRow } from "../ports/store.ts";

/** A waiting run that is already due counts as running: something is about to move it. */
export function isIdle(row: RunRow, now: number): boolean {
  return row.status === "done" || (row.status === "waiting" && (row.wake === undefined || row.wake > now));
}

const ticketLimit = 1_000;

interface Looking {
  readonly store: Store;
  readonly now: number;
}

/** The tickets that a resting run and the runs below it wait on; undefined when one of them is about to move. */
export async function restingTickets(row: RunRow, by: Looking): Promise<readonly TicketRow[] | undefined> {
  if (row.status === "done") return [];
  if (!isIdle(row, by.now)) return undefined;
  const { scope, run } = row;
  const rows = await by.store.tickets({ scope, run, status: "open", limit: ticketLimit });
  if (rows.length === 0) return undefined; // somebody has answered since
  const found: TicketRow[] = [];
  for (const each of rows) {
    const below = each.ticket.child ? await ticketsBelow({ scope, run: each.ticket.child.run }, by) : [each];
    if (!below) return undefined;
    found.push(...below);
  }
  return found;
}

/** One that is not born yet, or whose end its parent has not heard of, moves. */
async function ticketsBelow(
  key: { readonly scope: RunRow["scope"]; readonly run: RunId },
  by: Looking,
): Promise<readonly TicketRow[] | undefined> {
  const row = await by.store.run(key);
  return row && row.status !== "done" ? restingTickets(row, by) : undefined;
}
