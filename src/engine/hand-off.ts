/**
 * Handoff: the same run, thread and budget go on as another agent, with that agent's model, instructions, tools, policies
 * and plugins, until it hands the run back.
 *
 * HO1 A call of it is judged like any other. It takes effect when its step is over: what else the step has called is done by
 *     the agent that called it.
 * HO2 Who the run is, is written before anything is done as that agent: whoever takes the run up binds that one, or waits
 *     for a worker that has it (D8).
 * HO3 Of the agent before nothing is asked any more: what its plugins said or planned goes with it, their state keys stay.
 * HO4 Handing back restores exactly the manifest that the run had before it was handed over.
 * HO5 A step hands the run to one agent at most.
 */
import { errorResult } from "../domain/apply-call.ts";
import { handBackName } from "../domain/handoff.ts";
import { toolEffectId } from "../domain/ids.ts";
import { fingerprintOf } from "../domain/manifest.ts";
import type { CallResult } from "../domain/message.ts";
import type { CallState } from "../domain/run-state.ts";
import { act, type Draft, resume } from "./draft.ts";
import { isMet } from "./moments.ts";
import { isBusy } from "./rest.ts";
import { appendResult } from "./take-fact.ts";

/** HO1. It is over with its intent: nothing of it happens outside the journal. */
export function intendHandoff(draft: Draft, call: CallState, key: string): void {
  const to = receiverOf(draft, call.tool);
  if (to === undefined || draft.state.handoff) {
    const why = to === undefined ? "There is nobody to hand it to" : "The run was handed over in this step already"; // HO5
    resume(draft);
    appendResult(draft, call.id, errorResult("not-run", why));
    return;
  }
  const effect = toolEffectId(call.id, call.keyGeneration);
  const place = { effect, kind: "handoff" as const, step: draft.state.step?.step ?? 0, call: call.id };
  act(draft, { type: "effect-intended", ...place, attempt: 1, key, startBy: draft.at.startBy, timeoutMs: 0 });
  const result: CallResult = { kind: "value", value: { handedTo: to } };
  act(draft, { type: "effect-settled", effect, attempt: 1, result: { kind: "done" } });
  if (isMet(draft, "after-tool")) draft.answered.set(call.id, { effect, result });
  else appendResult(draft, call.id, result);
}

function receiverOf({ state, at }: Draft, tool: string): string | undefined {
  if (tool !== handBackName) return at.delegate(tool)?.agent;
  const giver = state.manifest.givers?.at(-1);
  return giver && (giver.agent ?? state.created.identity.agent);
}

/** HO2. True when the run is another's from here on, or will be once nothing of it is in flight. */
export function handOn(draft: Draft): boolean {
  const { handoff, manifest } = draft.state;
  if (!handoff) return false;
  if (isBusy(draft)) return true;
  const { fingerprint: from, givers = [] } = manifest;
  const giver = givers.at(-1);
  const lent = draft.at.delegate(handoff.tool);
  if (handoff.tool === handBackName && giver) {
    const { fingerprint } = giver;
    act(draft, { type: "manifest-amended", from, fingerprint, changed: [], handoff: "back" }); // HO4
  } else if (lent) {
    const declared = lent.manifest();
    const fingerprint = fingerprintOf(declared, draft.at.hash);
    act(draft, { type: "manifest-amended", from, fingerprint, declared, changed: [], handoff: "over" });
  } else return false;
  draft.reopen = true;
  return true;
}
