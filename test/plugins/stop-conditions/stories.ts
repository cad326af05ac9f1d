/** Agents with stop conditions, and what their runs came to. */
import { z } from "zod";
import type { Entry } from "../../../src/domain/entry.ts";
import type { ConfiguredPlugin } from "../../../src/domain/plugin.ts";
import { ToolFailure, tool } from "../../../src/index.ts";
import { type StopConditionsOptions, stopConditions } from "../../../src/plugins.ts";
import type { ScriptedAnswer } from "../../../src/providers/scripted.ts";
import type { Run, RunResult } from "../../../src/runtime/runtime.ts";
import {
  aModelThat,
  anAgentWith,
  callsTool,
  given,
  type Story,
  type StoryAgent,
  says,
} from "../../../src/testing/story.ts";

export const look = tool({
  name: "look",
  description: "Looks at a place",
  input: z.object({ at: z.number() }),
  effect: "pure",
  execute: ({ at }) => ({ saw: at }),
});
export const fail = tool({
  name: "fail",
  description: "Fails",
  input: z.object({ at: z.number() }),
  effect: "pure",
  execute: ({ at }) => {
    throw new ToolFailure(`no ${at}`);
  },
});
export const ask = tool({
  name: "ask",
  description: "Asks a person first",
  input: z.object({ at: z.number() }),
  effect: "pure",
  needsApproval: true,
  execute: ({ at }) => ({ asked: at }),
});

/** So many steps, each with one call of its own input, and then an end. */
export function steps(count: number, name = "look"): readonly ScriptedAnswer[] {
  return [...Array.from({ length: count }, (_, index) => callsTool(name, { at: index })), says("Done.")];
}

export function anAgentThatStops(options: StopConditionsOptions, ...others: readonly ConfiguredPlugin[]): StoryAgent {
  return { ...anAgentWith(look, fail, ask), budget: { steps: 100 }, plugins: [...others, stopConditions(options)] };
}

interface Played {
  readonly result: RunResult;
  /** Steps in which the model was called. */
  readonly modelCalls: number;
  readonly journal: readonly Entry[];
}

/** Plays it to its end. */
export async function play(options: StopConditionsOptions, answers: readonly ScriptedAnswer[]): Promise<Played> {
  await using story = await given(anAgentThatStops(options), aModelThat(...answers));
  const run = await story.userSays("Go.");
  return await endOf(story, run);
}

export async function endOf(story: Story, run: Run): Promise<Played> {
  const result = await run.result({ signal: AbortSignal.timeout(5_000) });
  return { result, modelCalls: story.modelSaw.length, journal: await story.journal(run) };
}

export function stoppedBy(code: string, detail: string): object {
  return { outcome: "stopped", code, detail };
}
