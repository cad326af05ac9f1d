/** What a provider counts, and what it does not: unknown is never 0, and no answer is thrown away for it. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { costOf, mostCost } from "../../src/domain/ledger.ts";
import { readUsage, sumUsage } from "../../src/domain/run.ts";
import { agent, type ModelPart, tool } from "../../src/index.ts";
import { stopConditions } from "../../src/plugins.ts";
import { type ScriptedAnswer, scripted, testRuntime } from "../../src/testing.ts";

const look = tool({ name: "look", description: "Look", input: z.object({}), effect: "pure", execute: () => "ok" });
const text: ModelPart = { type: "text-delta", text: "Done." };

const uncounted: Record<string, ModelPart> = {
  "no usage": { type: "finish", reason: "stop" },
  "negative tokens": { type: "finish", reason: "stop", usage: { inputTokens: -1, outputTokens: 1 } },
  "NaN tokens": { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: Number.NaN } },
  "half a count": { type: "finish", reason: "stop", usage: { inputTokens: 1 } as never },
  "fractions of tokens": { type: "finish", reason: "stop", usage: { inputTokens: 1.5, outputTokens: 1 } },
  "text for tokens": { type: "finish", reason: "stop", usage: { inputTokens: "7", outputTokens: 1 } as never },
};

async function play(answers: readonly ScriptedAnswer[], more: object = {}) {
  const one = agent({ name: "counter", model: scripted(answers), instructions: "Look.", tools: [look], ...more });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go");
  return { result: await run.result(), view: await run.status() };
}

describe.each(Object.entries(uncounted))("a provider that reports %s", (_what, finish) => {
  test("has answered all the same, and the run says that the reply was not counted", async () => {
    const { result, view } = await play([{ parts: [text, finish] }]);
    expect(result).toMatchObject({ outcome: "completed", output: "Done." });
    expect(result.usage).toEqual({ inputTokens: 0, outputTokens: 0, uncountedReplies: 1 });
    expect(view.uncountedReplies).toBe(1);
  });

  test("has spent what its call held, where the run has a budget of tokens", async () => {
    const { result } = await play([{ parts: [text, finish] }], { budget: { tokens: 20_000 } });
    expect(result).toMatchObject({ outcome: "completed", spent: { tokens: expect.any(Number) } });
    expect(result.spent?.tokens).toBeGreaterThan(8_192);
  });
});

test("a run whose provider never counts still comes to the end of its budget", async () => {
  const calling: ScriptedAnswer = { calls: [{ tool: "look" }], usage: null };
  const { result } = await play(
    Array.from({ length: 50 }, () => calling),
    { budget: { tokens: 30_000 } },
  );
  expect(result).toMatchObject({ outcome: "stopped", code: "budget" });
});

test("the plugin's limit of tokens stops a run whose tokens nobody counts", async () => {
  const plugins = [stopConditions({ tokens: 1_000_000 })];
  const { result } = await play([{ calls: [{ tool: "look" }], usage: null }, "never"], { plugins });
  expect(result).toMatchObject({
    outcome: "stopped",
    code: "tokens",
    detail: expect.stringContaining("did not count"),
  });
});

test("cache and reasoning tokens are summed where they are known", async () => {
  const counts = { inputTokens: 100, outputTokens: 50 };
  const { result } = await play([
    { calls: [{ tool: "look" }], usage: { ...counts, cacheReadTokens: 60, reasoningTokens: 0 } },
    { calls: [{ tool: "look" }], usage: { ...counts, cacheReadTokens: -3, cacheWriteTokens: 7 } },
    { text: "Done.", usage: { ...counts, cacheReadTokens: 5 } },
  ]);
  expect(result.usage).toEqual({
    inputTokens: 300,
    outputTokens: 150,
    cacheReadTokens: 65,
    cacheWriteTokens: 7,
    reasoningTokens: 0,
  });
});

test("what the cache took or gave has its own price, that of input unless said", () => {
  const usage = { inputTokens: 1_000, outputTokens: 10, cacheReadTokens: 600, cacheWriteTokens: 300 };
  const prices = { inputPerMillion: 3, outputPerMillion: 15 };
  expect(costOf(usage, prices)).toEqual({ tokens: 1_010, microUsd: 3_150 });
  const cached = { ...prices, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 };
  expect(costOf(usage, cached)).toEqual({ tokens: 1_010, microUsd: Math.ceil(300 + 180 + 1_125 + 150) });
  expect(costOf({ ...usage, cacheReadTokens: 5_000 }, cached).microUsd).toBeGreaterThan(0);
  expect(mostCost({ inputTokens: 1_000, outputTokens: 10 }, cached).microUsd).toBe(3_900);
  expect(costOf(usage, undefined)).toEqual({ tokens: 1_010, microUsd: 0 });
});

test("the run's budget of money is charged by the cache's prices", async () => {
  const prices = { inputPerMillion: 10, outputPerMillion: 10, cacheReadPerMillion: 1 };
  const usage = { inputTokens: 10_000, outputTokens: 0, cacheReadTokens: 10_000 };
  const model = scripted([{ text: "Done.", usage }], { description: { prices } });
  const { result } = await play([], { model, budget: { usd: 1 } });
  expect(result).toMatchObject({ outcome: "completed", spent: { usd: 0.01 } });
});

test("a count is read whole or not at all, and sums keep what they had", () => {
  expect(readUsage(null)).toBeUndefined();
  expect(readUsage({ inputTokens: 0, outputTokens: 0, junk: 1, reasoningTokens: "2" })).toEqual({
    inputTokens: 0,
    outputTokens: 0,
  });
  const sum = { inputTokens: 1, outputTokens: 2, uncountedReplies: 3 };
  expect(sumUsage(sum, { inputTokens: 1, outputTokens: 1 })).toEqual({ ...sum, inputTokens: 2, outputTokens: 3 });
});
