/** Moves the tool calls of a step, each on its own: judge, ask, intend, close what was lost, conclude. */
import { errorResult } from "../domain/apply-call.ts";
import type { CallState, OpenAttempt } from "../domain/run-state.ts";
import { act, type Draft, resume } from "./draft.ts";
import { intendCall } from "./intend.ts";
import { appendResult } from "./take-fact.ts";
import { openAsk, openUnknown, ticketOf } from "./tickets.ts";
import type { JudgeOrder, ReconcileOrder } from "./work.ts";

export function advanceCalls(draft: Draft): void {
  const count = draft.state.step?.calls.length ?? 0;
  for (let index = 0; index < count; index += 1) {
    let moved = true;
    while (moved) moved = moveCall(draft, draft.state.step?.calls[index]);
  }
}

/** One move; false when the call has to wait for something. */
function moveCall(draft: Draft, call: CallState | undefined): boolean {
  switch (call?.status) {
    case "proposed":
      return judge(draft, call);
    case "asked":
      if (!ticketOf(draft, call)) openAsk(draft, call);
      return false;
    case "ready":
      return intendCall(draft, call) && draft.state.step?.calls[call.index]?.status !== "running";
    case "running":
      return closeLost(draft, call);
    case "unknown":
      return tellUnknown(draft, call);
    case "concluded":
      resume(draft);
      appendResult(draft, call.id, call.result ?? errorResult("aborted", "The call ended without a result"));
      return false;
    default:
      return false;
  }
}

function judge(draft: Draft, call: CallState): boolean {
  if (call.input.kind === "text") {
    const message = `The input is not JSON: ${call.input.problem}`;
    act(draft, { type: "call-gated", call: call.id, verdict: { kind: "refuse", code: "invalid-input", message } });
    return true;
  }
  const { id, tool, edit, asked: round } = call;
  const input = edit ? edit.input : call.input.value;
  order(draft, { kind: "judge", call: id, tool, input, edited: edit !== undefined, round });
  return false;
}

/** D6: the attempt belonged to a claim that is gone; its class says what may be done. */
function closeLost(draft: Draft, call: CallState): boolean {
  const { effect } = call;
  if (!effect?.open || effect.open.epoch === draft.at.epoch) return false;
  const { open } = effect;
  const spec = draft.at.spec(call.tool);
  if (spec && spec.effect !== "once") {
    act(draft, { type: "effect-settled", effect: effect.id, attempt: open.attempt, result: { kind: "lost" } });
    return true;
  }
  if (spec?.reconciles) {
    order(draft, reconcileOrder(call, open));
    return false;
  }
  const why = "its worker was lost between intent and settlement";
  const result = { kind: "unknown" as const, why, decidableFrom: open.startBy + open.timeoutMs };
  act(draft, { type: "effect-settled", effect: effect.id, attempt: open.attempt, result });
  return true;
}

function reconcileOrder(call: CallState, open: OpenAttempt): ReconcileOrder {
  return {
    kind: "reconcile",
    call: call.id,
    tool: call.tool,
    input: call.input.kind === "json" ? call.input.value : null,
    effect: call.effect?.id ?? (call.id as never),
    attempt: open.attempt,
    key: open.key,
    timeoutMs: open.timeoutMs,
    certainAt: open.startBy + open.timeoutMs,
  };
}

function tellUnknown(draft: Draft, call: CallState): boolean {
  if (draft.at.spec(call.tool)?.onUnknown === "tell-model") {
    const message = `The outcome is unknown (${call.problem ?? "lost"}); it may have happened, do not repeat it`;
    resume(draft);
    appendResult(draft, call.id, errorResult("outcome-unknown", message));
  } else if (!ticketOf(draft, call)) {
    openUnknown(draft, call);
  }
  return false;
}

/** Work without an intent (a read, a verdict): the run is running while it is in flight. */
function order(draft: Draft, what: JudgeOrder | ReconcileOrder): void {
  resume(draft);
  draft.start.push(what);
}
