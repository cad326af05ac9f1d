/** Moves the tool calls of a step, each on its own: judge, ask, intend, close what was lost, conclude. */
import { errorResult } from "../domain/apply-call.ts";
import { isAnswer } from "../domain/candidate.ts";
import type { FinishReason } from "../domain/entry.ts";
import { isOffered } from "../domain/plugin-state.ts";
import type { CallState, OpenAttempt } from "../domain/run-state.ts";
import { moveAnswer } from "./answer-call.ts";
import { isChild, settleChild } from "./delegate.ts";
import { act, type Draft, resume } from "./draft.ts";
import { intendCall } from "./intend.ts";
import { pass } from "./moments.ts";
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

/** Only what is over already. */
export function concludeCalls(draft: Draft): void {
  for (const call of draft.state.step?.calls ?? []) if (call.status === "concluded") conclude(draft, call);
}

/** One move; false when the call has to wait for something. */
function moveCall(draft: Draft, call: CallState | undefined): boolean {
  switch (call?.status) {
    case "proposed":
      return isAnswer(call, draft.at.output) ? moveAnswer(draft, call, cutOf(draft)) : judge(draft, call);
    case "asked":
      if (!ticketOf(draft, call)) openAsk(draft, call);
      return false;
    case "ready":
      return intendCall(draft, call) && draft.state.step?.calls[call.index]?.status !== "running";
    case "running":
      return isChild(call) ? settleChild(draft, call) : closeLost(draft, call);
    case "unknown":
      return tellUnknown(draft, call);
    case "concluded":
      return conclude(draft, call);
    default:
      return false;
  }
}

/** What a tool answered goes through the plugins before the model reads it. */
function conclude(draft: Draft, call: CallState): boolean {
  const result = call.result ?? draft.answered.get(call.id)?.result;
  if (wasRun(call) && result && !pass(draft, "after-tool", { subject: call.id, result })) return false;
  resume(draft);
  appendResult(draft, call.id, result ?? errorResult("aborted", "The call ended without a result"));
  return false;
}

export function wasRun({ effect }: CallState): boolean {
  return effect?.last?.kind === "done" || effect?.last?.kind === "refused";
}

function judge(draft: Draft, call: CallState): boolean {
  const refusal = refusalOf(draft, call);
  if (refusal || call.input.kind !== "json") {
    const message = refusal ?? "The input is not JSON";
    const code = isHidden(draft, call) ? "unknown-tool" : "invalid-input";
    act(draft, { type: "call-gated", call: call.id, verdict: { kind: "refuse", code, message } });
    return true;
  }
  const { id, tool, edit, asked: round } = call;
  const input = edit ? edit.input : call.input.value;
  order(draft, { kind: "judge", call: id, tool, input, edited: edit !== undefined, round });
  return false;
}

/** What needs no look at the tool. */
function refusalOf(draft: Draft, call: CallState): string | undefined {
  const cut = cutOf(draft);
  if (cut !== undefined) return cut;
  if (call.input.kind === "text") return `The input is not JSON: ${call.input.problem}`;
  return isHidden(draft, call) ? `There is no tool ${call.tool} in this step` : undefined;
}

/** A reply that was cut may have cut its calls too: none of them runs. */
function cutOf({ state }: Draft): string | undefined {
  const last = state.step?.model.last;
  const finish = last?.kind === "done" ? last.finish : undefined;
  if (!finish || wholeFinishes.includes(finish)) return undefined;
  return `The reply ended by ${finish}, so its calls may be incomplete; none of them was run`;
}

/** Only by these a reply is known to be whole. */
const wholeFinishes: readonly FinishReason[] = ["stop", "tool-calls"];

function isHidden({ state }: Draft, call: CallState): boolean {
  return state.step !== undefined && !isOffered(call.tool, state.step.changes);
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
