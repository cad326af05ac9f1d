/** Awaken's waiting data and its tickets (C-038 to C-047), derived from our open tickets. */
import type { JsonValue } from "../json.ts";
import type { RunState } from "../run-state.ts";
import type { TicketCall, TicketRecord } from "../ticket.ts";
import { type SeedResumeMode, seedResumeMode } from "./resume-mode.ts";
import { leadingReason, reasonText, type SeedWaitingReason, seedWaitingReason } from "./waiting-reason.ts";

export interface SeedTicket {
  readonly ticketId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: JsonValue;
  readonly resumeMode: SeedResumeMode;
  /** What is asked for: the suspension's action there, our ticket's kind. */
  readonly reason: string;
  readonly updatedAt: number;
}

export interface SeedWaiting {
  readonly reason: SeedWaitingReason;
  readonly ticketIds: readonly string[];
  readonly tickets: readonly SeedTicket[];
  /** The claim under which the wait began (D-11). */
  readonly sinceDispatch: number | null;
  readonly message?: string;
}

export type WaitingFacts = Pick<RunState, "status" | "tickets" | "waitingSince">;

/** Exists exactly while the run waits. */
export function waitingRecord(run: WaitingFacts): SeedWaiting | undefined {
  if (run.status !== "waiting") return undefined;
  const reason = leadingReason(run.tickets.map((ticket) => ticket.kind));
  const tickets = seedTickets(run.tickets);
  const message = reasonText(reason);
  return {
    reason: seedWaitingReason(reason),
    ticketIds: tickets.map((ticket) => ticket.ticketId),
    tickets,
    sinceDispatch: run.waitingSince ?? null,
    ...(message === undefined ? {} : { message }),
  };
}

/** Those that a tool call waits on, and no others; by call, then by ticket. */
export function seedTickets(tickets: readonly TicketRecord[]): readonly SeedTicket[] {
  return tickets
    .flatMap((ticket) => (ticket.call ? [seedTicket(ticket, ticket.call)] : []))
    .sort((a, b) => order(a.toolCallId, b.toolCallId) || order(a.ticketId, b.ticketId));
}

function seedTicket(ticket: TicketRecord, call: TicketCall): SeedTicket {
  return {
    ticketId: ticket.id.trim() === "" ? call.id : ticket.id,
    toolCallId: call.id,
    toolName: call.tool,
    arguments: call.input,
    resumeMode: seedResumeMode(call.resume),
    reason: ticket.kind,
    updatedAt: ticket.openedAt,
  };
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
