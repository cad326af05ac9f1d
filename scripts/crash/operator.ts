/** People at work: every client answers every open ticket, so two of them often answer the same one at the same time. */
import { createHash } from "node:crypto";
import { isHoldfastError, type Runtime, type Settlement, type Ticket } from "holdfast";
import type { ClientLine } from "./evidence.ts";

export interface Operator {
  readonly name: string;
  readonly toolsUrl: string;
  readonly say: (line: ClientLine) => void;
}

export async function answerTickets(runtime: Runtime, operator: Operator): Promise<void> {
  const tickets = await runtime.tickets.list({ status: "open", limit: 100 });
  await Promise.all(tickets.map((ticket) => answer(ticket, operator)));
}

/** What cannot be answered yet, or any more, is left alone. */
async function answer(ticket: Ticket, operator: Operator): Promise<void> {
  try {
    const settlement = await decide(ticket, operator);
    if (!settlement) return;
    operator.say({ kind: "decided", run: ticket.run, ticket: ticket.id, by: settlement.by });
  } catch (cause) {
    if (!isHoldfastError(cause)) throw cause;
    if (!["ticket-not-decidable", "ticket-not-found", "run-ended"].includes(cause.code)) throw cause;
  }
}

async function decide(ticket: Ticket, { name, toolsUrl }: Operator): Promise<Settlement | undefined> {
  const act = { by: name, key: name };
  if (ticket.kind === "approval") {
    return wantsIt(ticket.id, name) ? ticket.approve(act) : ticket.reject("Not this one", act);
  }
  if (ticket.kind === "quarantined") return ticket.release(act);
  if (ticket.kind !== "unknown-outcome" || Date.now() < (ticket.decidableFrom ?? 0)) return undefined;
  const { status } = await fetch(`${toolsUrl}/${encodeURIComponent(ticket.call.id)}`);
  return status === 200 ? ticket.markDone("done", act) : ticket.markFailed("It was not made", act);
}

/** Three out of four, and not the same for everybody: who is first decides. */
function wantsIt(ticket: string, name: string): boolean {
  return (createHash("sha256").update(`${ticket}${name}`).digest()[0] ?? 0) >= 64;
}
