/**
 * XA-17: Awaken's tool call status, its legal moves, and our call in its words. Every move that our journal can
 * make is a legal move there, which is why a call that was answered is `resuming` until its result is written, and one
 * that has run and is held for plugins is `running`: they may change its result, or want another attempt.
 */
import type { Settled } from "../entry.ts";
import type { CallErrorCode, CallResult } from "../message.ts";
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
      return waitingStatus(call);
    case "asked":
      // Until a ticket asks about it, nobody but the engine has to do anything.
      return call.asked > 0 ? "suspended" : waitingStatus(call);
    case "ready":
      return waitingStatus(call);
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

/** Its tool has changed, and somebody has said anew what is to become of it. */
function isAnsweredAgain({ again, decision }: CallState): boolean {
  return again === true && decision !== undefined;
}

/** Judged for the first time, or again: a person edited it, or its tool has changed since it was asked about. */
function waitingStatus(call: CallState): ToolCallStatus {
  if (wasTried(call) && !isAnsweredAgain(call)) return "running";
  return call.decision || call.asked + call.unknownTickets > 0 ? "resuming" : "new";
}

/** An unknown attempt is its ticket's affair. */
function wasTried({ effect }: CallState): boolean {
  return effect?.last !== undefined && effect.last.kind !== "unknown";
}

const answers: readonly DecisionKind[] = ["answer", "mark-done", "mark-failed"];

function concludedStatus(call: CallState): ToolCallStatus {
  if (call.result && wasTried(call) && !isAnsweredAgain(call)) return "running";
  const answered = call.result && call.decision && answers.includes(call.decision.decision.kind);
  return answered ? "resuming" : endOfCall(call, call.result);
}

function endOfCall(call: CallState, result: CallResult | undefined): EndedCallStatus {
  if (result?.kind === "value") return "succeeded";
  if (result) return endOfError(call, result.code);
  const last = call.effect?.last;
  return last && last.kind !== "unknown" ? endOfAttempt(last.kind) : endOfDecision(call);
}

function endOfError(call: CallState, code: CallErrorCode): EndedCallStatus {
  if (code === "outcome-unknown") return unanswered(call);
  return code === "rejected" || code === "not-run" || code === "aborted" ? "cancelled" : "failed";
}

function endOfAttempt(last: Settled["kind"]): EndedCallStatus {
  if (last === "done") return "succeeded";
  return last === "aborted" || last === "lost" || last === "not-made" ? "cancelled" : "failed";
}

function endOfDecision(call: CallState): EndedCallStatus {
  switch (call.decision?.decision.kind) {
    case "answer":
    case "mark-done":
      return "succeeded";
    case "mark-failed":
      return "failed";
    case "reject":
    case "closed":
      return "cancelled";
    default:
      return unanswered(call);
  }
}

/** A question about an unknown outcome that nobody answered went away with a cancelled run. */
function unanswered(call: CallState): EndedCallStatus {
  return call.unknownTickets > 0 ? "cancelled" : "failed";
}
