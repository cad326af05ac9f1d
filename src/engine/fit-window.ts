/** Before a model call: what it would send is made to fit, by a summary of what is old or by leaving it out. */
import { fitContext } from "../domain/fit-context.ts";
import type { Outcome } from "../domain/run.ts";
import { describedFor } from "./called-model.ts";
import { compact } from "./compact.ts";
import { act, type Draft } from "./draft.ts";
import { ownMark } from "./own-mark.ts";

/** "waiting": a summary has to come first. An outcome when it cannot be made to fit. */
export function fitWindow(draft: Draft): Outcome | "waiting" | "ready" {
  if (compact(draft) === "waiting") return "waiting";
  const room = draft.at.room(draft.state);
  const fit = fitContext(draft.at.candidates(draft.entries), room);
  if (fit.kind === "too-large") return tooLarge(draft, fit.tokens);
  if (fit.kind === "moved") {
    const { mark, decisions, tokens } = fit;
    const step = draft.state.step?.step ?? 0;
    act(draft, { type: "context-projected", step, mark, decisions, tokens, limit: room.tokens, ...ownMark(draft) });
  }
  return "ready";
}

function tooLarge(draft: Draft, tokens: number): Outcome {
  const { fixed, tokens: limit } = draft.at.room(draft.state);
  const { provider, model } = describedFor(draft);
  const message =
    `${provider}/${model} was not called: the input of the run and its newest messages are about ${tokens} tokens with ` +
    `instructions and tools (about ${fixed}), and ${limit} fit; shorten them, or take a model with a larger window`;
  return { kind: "failed", error: { code: "model-context-overflow", message }, retry: "never" };
}
