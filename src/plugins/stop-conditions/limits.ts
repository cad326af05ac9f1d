/** Limits: looked at before a step, so that what would exceed them is not paid for. */
import type { Stop } from "../../domain/command.ts";
import type { PhaseView } from "../../domain/plugin.ts";
import type { Conditions } from "./config.ts";

export function reachedLimit(view: PhaseView, { steps, wallTimeMs, tokens }: Conditions): Stop | undefined {
  if (steps !== undefined && view.stepsEnded >= steps) {
    return { type: "stop", code: "steps", detail: `${view.stepsEnded} steps were made, the limit is ${steps}` };
  }
  return timeIsUp(view, wallTimeMs) ?? tokensAreSpent(view, tokens);
}

/** A limit that nobody can count does not hold: the run stops rather than go on without it. */
function tokensAreSpent({ usage }: PhaseView, tokens: number | undefined): Stop | undefined {
  if (tokens === undefined) return undefined;
  if (usage.uncountedReplies !== undefined) {
    const detail = `The provider did not count the tokens of ${usage.uncountedReplies} replies, so the limit of ${tokens} cannot be kept`;
    return { type: "stop", code: "tokens", detail };
  }
  const used = usage.inputTokens + usage.outputTokens;
  if (used < tokens) return undefined;
  return { type: "stop", code: "tokens", detail: `${used} tokens were used, the limit is ${tokens}` };
}

export function timeIsUp({ now, startedAt }: PhaseView, wallTimeMs: number | undefined): Stop | undefined {
  const passed = now - startedAt;
  if (wallTimeMs === undefined || passed < wallTimeMs) return undefined;
  const detail = `${passed} ms have passed since the run began, the limit is ${wallTimeMs} ms`;
  return { type: "stop", code: "wall-time", detail };
}
