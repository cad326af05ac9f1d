/** The intent of a remote turn: our ids and what it goes on from are committed before anything is sent (L3). */
import { bareText } from "../domain/backend/backend-error.ts";
import { negotiate, refusalOf } from "../domain/backend/negotiate.ts";
import type { RemoteIntent } from "../domain/backend/remote-turn.ts";
import { turnEffectId, turnMessageId } from "../domain/ids.ts";
import type { Outcome } from "../domain/run.ts";
import type { StepState } from "../domain/run-state.ts";
import { act, type Draft, type RemoteTerms } from "./draft.ts";
import type { Held } from "./reserve.ts";

/** An outcome when the backend cannot do what this turn needs. */
export function intendTurn(draft: Draft, step: StepState, held: Held | undefined): Outcome | undefined {
  const { remote: terms, startBy, beginBy } = draft.at;
  if (!terms) return undefined;
  const turn = turnOf(draft, step, terms);
  if ("kind" in turn) return turn;
  const effect = turnEffectId(draft.state.created.identity.run, step.step);
  const attempt = {
    effect,
    kind: "remote" as const,
    step: step.step,
    attempt: step.model.attempt + 1,
    key: turn.message,
    startBy,
    timeoutMs: terms.timeoutMs,
    remote: turn,
  };
  act(draft, { type: "effect-intended", ...attempt, ...(held ? { held } : {}) });
  draft.start.push({ ...attempt, beginBy });
  return undefined;
}

/** A later attempt is the same turn, unless an operator has it sent anew. */
function turnOf(draft: Draft, { step }: StepState, terms: RemoteTerms): RemoteIntent | Outcome {
  const { state } = draft;
  const { remote, created } = state;
  const message = turnMessageId(created.identity.run, step, remote?.again ?? 0);
  if (remote?.step === step) return { ...remote.turn, message };
  const { answer } = remote ?? {};
  const negotiated = negotiate(
    {
      for: "root",
      continuation: answer !== undefined,
      history: answer === undefined && (state.position > 0 || state.stepsEnded > 0),
      allow: terms.adapt,
    },
    terms.capabilities,
  );
  const refusal = refusalOf(created.identity.agent, negotiated);
  if (refusal) {
    return { kind: "failed", error: { code: refusal.code, message: bareText(refusal) }, retry: "never" };
  }
  const continued = answer && remote?.task ? { task: remote.task } : {};
  return {
    message,
    context: contextOf(draft),
    ...continued,
    ...(answer ? { answers: answer.on } : {}),
    ...(negotiated.kind === "adapted" ? { adapted: negotiated.gaps } : {}),
  };
}

/** One conversation per thread and agent, and nothing in it that says whose. */
function contextOf({ state, at }: Draft): string {
  const { scope, thread, agent } = state.created.identity;
  return at.hash.sha256(at.hash.canonical(["remote-context", scope, thread, agent])).slice(0, 32);
}
