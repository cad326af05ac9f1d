/** S3: no crash and no resume begins a count again. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, ToolFailure, tool } from "../../../src/index.ts";
import { type StopConditionsOptions, stopConditions } from "../../../src/plugins.ts";
import { scripted } from "../../../src/providers/scripted.ts";
import { crashEverywhere } from "../../../src/testing/crash-kit.ts";
import type { CrashScenario } from "../../../src/testing/crash-scenario.ts";
import { aModelThat, callsTool, given, says } from "../../../src/testing/story.ts";
import { anAgentThatStops, endOf } from "./stories.ts";

const asking = (at: number) => callsTool("ask", { at });

const rows: readonly { code: string; options: StopConditionsOptions; more: StopConditionsOptions; at: number[] }[] = [
  { code: "steps", options: { steps: 3 }, more: { steps: 4 }, at: [1, 2, 3] },
  { code: "tokens", options: { tokens: 6 }, more: { tokens: 7 }, at: [1, 2, 3] },
  { code: "errors", options: { consecutiveErrors: 3 }, more: { consecutiveErrors: 4 }, at: [1, 2, 3] },
  {
    code: "loop",
    options: { loop: { calls: 3, window: 3 } },
    more: { loop: { calls: 4, window: 4 } },
    at: [1, 1, 1],
  },
];

/** Every step waits for a person, who says no in a process that did not begin the step. */
async function playedOverRestarts(options: StopConditionsOptions, at: readonly number[]) {
  await using story = await given(anAgentThatStops(options), aModelThat(...at.map(asking), says("Done.")));
  const run = await story.userSays("Go.");
  for (const _step of at) {
    await story.expectWaitingFor(run, "ask");
    await story.restart();
    await story.reject(run, "ask", "no");
  }
  return await endOf(story, run);
}

test.each(rows)("$code: with a restart in every step it stops where it would have, and no sooner", async (row) => {
  expect(await playedOverRestarts(row.options, row.at)).toMatchObject({ result: { code: row.code }, modelCalls: 3 });
  expect(await playedOverRestarts(row.more, row.at)).toMatchObject({ result: { outcome: "completed" }, modelCalls: 4 });
});

test.each([
  { wallTimeMs: 90_000, outcome: "stopped" },
  { wallTimeMs: 200_000, outcome: "completed" },
])("time goes on over restarts: $wallTimeMs ms", async ({ wallTimeMs, outcome }) => {
  const { result } = await playedOverRestarts({ wallTimeMs }, [1, 2, 3]); // a lease of 30 s runs out at each restart
  expect(result.outcome).toBe(outcome);
});

/** Both counters move in every step: an error each, and the same call each. */
function scenario(options: StopConditionsOptions): CrashScenario {
  return {
    name: JSON.stringify(options),
    agents: () => {
      const fail = tool({
        name: "fail",
        description: "Fails",
        input: z.object({}),
        effect: "pure",
        execute: () => {
          throw new ToolFailure("no");
        },
      });
      const answers = [...Array.from({ length: 4 }, () => ({ calls: [{ tool: "fail" }] })), "Done."];
      const plugins = [stopConditions(options)];
      return [agent({ name: "clerk", model: scripted(answers), instructions: "Work.", tools: [fail], plugins })];
    },
    script: async ({ runtime, agents: [clerk] }) => {
      if (clerk) await runtime.start(clerk, "Go.", { key: "one" });
    },
    settings: { limits: { snapshotEvery: 3 } },
  };
}

test.each([
  { code: "errors", options: { consecutiveErrors: 3 } },
  { code: "loop", options: { loop: { calls: 3, window: 3 } } },
])("$code: cut anywhere, the run stops after the same step", async ({ code, options }) => {
  const report = await crashEverywhere(scenario(options), { ways: ["before", "after"] });
  expect(report.failures).toEqual([]);
  expect(report.cuts).toBeGreaterThan(100);
  const [run] = report.uncut.runs;
  expect(run?.outcome).toBe(`stopped ${code}`);
  expect(run?.transcript.filter((line) => line.startsWith("assistant:"))).toHaveLength(3);
});
