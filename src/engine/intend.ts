/** Intents: the only place that orders an effect, beside its effect-intended (D1, L3). A child needs no order: its birth is a delivery. */
import { errorResult } from "../domain/apply-call.ts";
import { toolEffectId } from "../domain/ids.ts";
import { present } from "../domain/present.ts";
import type { Outcome } from "../domain/run.ts";
import type { CallState, EffectState, RunState, StepState } from "../domain/run-state.ts";
import type { ToolSpec } from "../domain/tool.ts";
import { recordedOverrides } from "./called-model.ts";
import { intendChild } from "./delegate.ts";
import { act, type Draft, resume, wakeBy } from "./draft.ts";
import { fitWindow } from "./fit-window.ts";
import { intendHandoff } from "./hand-off.ts";
import { intendTurn } from "./intend-turn.ts";
import { pass } from "./moments.ts";
import { fittingAnswer, isOutcome, longestWanted, reserve } from "./reserve.ts";
import { appendResult } from "./take-fact.ts";

/** How long to wait for a renewal when the lease is too near its end to begin anything. */
const renewalWaitMs = 50;

/** An outcome when the call cannot be paid for, or does not fit. */
export function intendModel(draft: Draft, step: StepState): Outcome | undefined {
  if (!mayBegin(draft)) return undefined;
  const isFirst = step.model.attempt === 0;
  if (isFirst && !(pass(draft, "context-ready") && pass(draft, "before-model"))) return undefined;
  if (draft.state.plugins.stop || isHeld(draft.state)) return undefined;
  const fitted = draft.at.remote ? "ready" : fitWindow(draft); // the other side sees to its own
  if (fitted !== "ready") return fitted === "waiting" ? undefined : fitted;
  const held = reserve(draft);
  if (isOutcome(held)) return held;
  if (draft.at.remote) return intendTurn(draft, step, held);
  const { limits, startBy } = draft.at;
  const attempt = {
    effect: step.model.id,
    kind: "model" as const,
    step: step.step,
    attempt: step.model.attempt + 1,
    key: step.model.id,
    startBy,
    timeoutMs: limits.modelTimeoutMs,
  };
  const overrides = recordedOverrides(draft);
  const asked = overrides ? { overrides } : {};
  const maxOutputTokens = fittingAnswer(draft, held?.outputTokens ?? longestWanted(draft));
  act(draft, { type: "effect-intended", ...attempt, ...(held ? { held } : {}), ...asked });
  draft.start.push({ ...attempt, beginBy: draft.at.beginBy, ...present({ maxOutputTokens }), ...asked });
  return undefined;
}

/** False when the call has to stay ready for now. */
export function intendCall(draft: Draft, call: CallState): boolean {
  const spec = draft.at.spec(call.tool);
  if (!spec || call.input.kind !== "json") {
    resume(draft);
    appendResult(draft, call.id, errorResult("unknown-tool", `There is no tool ${call.tool} any more`));
    return true;
  }
  if (isUnknownElsewhere(draft, call)) {
    const why = `An earlier ${call.tool} with the same input has an unknown outcome; it must not be repeated`;
    resume(draft);
    appendResult(draft, call.id, errorResult("outcome-unknown", why));
    return true;
  }
  if (!mayBegin(draft) || inFlight(draft, call.tool) >= spec.concurrency || isKeyTaken(draft, spec)) return false;
  if (!call.effect && !pass(draft, "before-tool", { subject: call.id })) return false;
  if (isHeld(draft.state)) return false;
  if (spec.effect === "child") {
    intendChild(draft, call, idempotencyKey(draft, call));
    return true;
  }
  if (spec.effect === "handoff") {
    intendHandoff(draft, call, idempotencyKey(draft, call));
    return true;
  }
  const effect = toolEffectId(call.id, call.keyGeneration);
  const attempt = {
    effect,
    kind: "tool" as const,
    step: draft.state.step?.step ?? 0,
    call: call.id,
    attempt: nextAttempt(call.effect, effect),
    key: idempotencyKey(draft, call),
    startBy: draft.at.startBy,
    timeoutMs: spec.timeoutMs,
  };
  act(draft, { type: "effect-intended", ...attempt });
  const { beginBy } = draft.at;
  draft.start.push({ ...attempt, beginBy, tool: call.tool, input: call.input.value, decision: call.decision });
  return true;
}

function nextAttempt(effect: EffectState | undefined, id: EffectState["id"]): number {
  return effect?.id === id ? effect.attempt + 1 : 1;
}

/** Derived from what the call is, so every worker, retry and restart makes the same one. */
function idempotencyKey(draft: Draft, call: CallState): string {
  const { scope, run } = draft.state.created.identity;
  const subject = draft.at.hash.canonical([scope, run, call.id, call.keyGeneration]);
  return draft.at.hash.sha256(subject).slice(0, 40);
}

function isUnknownElsewhere(draft: Draft, call: CallState): boolean {
  const { canonical } = draft.at.hash;
  const { unknowns } = draft.state;
  if (unknowns.length === 0 || call.input.kind !== "json") return false;
  const input = canonical(call.input.value);
  return unknowns.some((each) => each.call !== call.id && each.tool === call.tool && canonical(each.input) === input);
}

function inFlight(draft: Draft, tool: ToolSpec["name"]): number {
  const calls = draft.state.step?.calls ?? [];
  return calls.filter((call) => call.tool === tool && call.status === "running").length;
}

/** Calls that write the same exclusive state key run one at a time. */
function isKeyTaken(draft: Draft, { writes = [] }: ToolSpec): boolean {
  const exclusive = writes.filter((name) => draft.at.keys.get(name)?.merge === "exclusive");
  if (exclusive.length === 0) return false;
  const running = draft.state.step?.calls.filter((call) => call.status === "running") ?? [];
  return running.some(({ tool }) => draft.at.spec(tool)?.writes?.some((name) => exclusive.includes(name)));
}

/** A plugin has asked somebody something about the run: nothing new begins before it is answered. */
export function isHeld(state: RunState): boolean {
  return state.tickets.some(({ plugin, call }) => plugin !== undefined && call === undefined);
}

function mayBegin(draft: Draft): boolean {
  if (draft.state.pause || draft.state.plugins.stop || isHeld(draft.state) || draft.at.leaving) return false;
  if (draft.at.elapsed < draft.at.beginBy) return true;
  wakeBy(draft, draft.at.now + renewalWaitMs);
  return false;
}
