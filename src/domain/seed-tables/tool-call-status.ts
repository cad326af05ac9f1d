/**
 * XA-17: Awaken's tool call status, its legal moves, and our call in its words. Every move that our journal can
 * make is a legal move there, which is why a call that was answered is `resuming` until its result is written.
 */
import type { Settled } from "../entry.ts";
import type { CallResult } from "../message.ts";
import type { CallState } from "../run-state.ts";
import type { DecisionKind } from "../ticket.ts";

export type ToolCallStatus = "new" | "running" | "suspended" | "resuming" | EndedCallStatus;
type EndedCallStatus = "succeeded" | "failed" | "cancelled";

const ended: readonly ToolCallStatus[] = ["succeeded", "failed", "cancelled"];

const legalMoves: Readonly<Record<ToolCallStatus, readonly ToolCallStatus[]>> = {
  new: ["new", "running", "suspended", "resuming", ...ended],
  running: ["running", "suspended", ...ended],
  suspended: ["suspended", "resuming", "cancelled"],
  resuming: ["resuming", "running", "suspended", ...ended],
  succeeded: [],
  failed: [],
  cancelled: [],
};

export function canMoveCall(from: ToolCallStatus, to: ToolCallStatus): boolean {
  return legalMoves[from].includes(to);
}

export function isCallEnded(status: ToolCallStatus): boolean {
  return ended.includes(status);
}

/** `result`: what the transcript holds for the call, once it holds something. */
export function toolCallStatus(call: CallState, result?: CallResult): ToolCallStatus {
  switch (call.status) {
    case "proposed":
      return call.decision ? "resuming" : "new";
    case "asked":
      return "suspended";
    case "ready":
      return readyStatus(call);
    case "running":
      return "running";
    case "unknown":
      // Until a ticket asks about it, nobody but the engine has to do anything.
      return call.unknownTickets > 0 ? "suspended" : "running";
    case "concluded":
      return concludedStatus(call);
    case "settled":
      return endOfCall(call, result);
    default:
      return call.status satisfies never;
  }
}

function readyStatus(call: CallState): ToolCallStatus {
  const last = call.effect?.last?.kind;
  if (last === "lost" || last === "not-made") return "running";
  return call.decision ? "resuming" : "new";
}

const answers: readonly DecisionKind[] = ["answer", "mark-done", "mark-failed"];

function concludedStatus(call: CallState): ToolCallStatus {
  const answered = call.result && call.decision && answers.includes(call.decision.decision.kind);
  return answered ? "resuming" : endOfCall(call, call.result);
}

function endOfCall(call: CallState, result: CallResult | undefined): EndedCallStatus {
  if (result) return endOfResult(result);
  const last = call.effect?.last;
  return last && last.kind !== "unknown" ? endOfAttempt(last) : endOfDecision(call.decision?.decision.kind);
}

function endOfResult(result: CallResult): EndedCallStatus {
  if (result.kind === "value") return "succeeded";
  return ["rejected", "not-run", "aborted"].includes(result.code) ? "cancelled" : "failed";
}

function endOfAttempt(last: Settled): EndedCallStatus {
  if (last.kind === "done") return "succeeded";
  return last.kind === "aborted" || last.kind === "lost" || last.kind === "not-made" ? "cancelled" : "failed";
}

function endOfDecision(decision: DecisionKind | undefined): EndedCallStatus {
  if (decision === "answer" || decision === "mark-done") return "succeeded";
  return decision === "reject" || decision === "closed" ? "cancelled" : "failed";
}
