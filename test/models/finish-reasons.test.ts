/** Every reason for which a model may stop: only a reply that is whole is a success, and only its calls run. */
import { expect, test } from "vitest";
import { z } from "zod";
import type { FinishReason } from "../../src/domain/entry.ts";
import { agent, tool } from "../../src/index.ts";
import { type ScriptedAnswer, scripted, testRuntime } from "../../src/testing.ts";

async function play(answers: readonly ScriptedAnswer[]) {
  let effects = 0;
  const look = tool({
    name: "look",
    description: "Look",
    input: z.object({}),
    effect: "pure",
    execute: () => {
      effects += 1;
      return "ok";
    },
  });
  const one = agent({ name: "finisher", model: scripted(answers), instructions: "Look.", tools: [look] });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go");
  const result = await run.result();
  return { result, effects };
}

const ends: Record<FinishReason, object> = {
  stop: { outcome: "completed", output: "Half" },
  "tool-calls": { outcome: "completed", output: "Half" },
  length: { outcome: "stopped", code: "length" },
  "content-filter": { outcome: "blocked", reason: "content-filter" },
  error: { outcome: "failed", error: { code: "model-failed" } },
  other: { outcome: "stopped", code: "finish" },
};

test.each(Object.entries(ends))("an answer that ended by %s ends the run as it should", async (finish, end) => {
  const { result } = await play([{ text: "Half", finish: finish as FinishReason }]);
  expect(result).toMatchObject(end);
});

test.each(["content-filter", "error", "other"] as const)(
  "a reply that ended by %s is no basis to go on from, whatever it asked for",
  async (finish) => {
    const { result } = await play([{ text: "Half", calls: [{ tool: "look" }], finish }, "Done."]);
    expect(result).toMatchObject({ ...ends[finish], steps: 1 });
  },
);

const runs: Record<FinishReason, number> = {
  stop: 1,
  "tool-calls": 1,
  length: 0,
  "content-filter": 0,
  error: 0,
  other: 0,
};

test.each(Object.entries(runs))("of a reply that ended by %s so many calls run: %d", async (finish, count) => {
  const { effects } = await play([{ calls: [{ tool: "look" }], finish: finish as FinishReason }, "Done."]);
  expect(effects).toBe(count);
});
