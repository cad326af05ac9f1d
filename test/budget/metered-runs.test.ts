/** Budgets of tokens and money on real runs: held before the call, settled by what it cost, the next one not begun. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, memory, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import { type ScriptedAnswer, scripted, testRuntime } from "../../src/testing.ts";

const prices = { inputPerMillion: 3, outputPerMillion: 15 };
const look = tool({ name: "look", description: "Look", input: z.object({}), effect: "pure", execute: () => "ok" });
const calls = (inputTokens: number, outputTokens: number) => ({ calls: [{ tool: "look" }], inputTokens, outputTokens });

function spender(answers: readonly ScriptedAnswer[], budget: object, description: object = { prices }) {
  return agent({
    name: "spender",
    model: scripted(answers, { description }),
    instructions: "Look.",
    tools: [look],
    budget,
  });
}

async function play(one: ReturnType<typeof spender>) {
  await using t = await testRuntime({ agents: [one], store: memory() });
  const run = await t.runtime.start(one, "go");
  const result = await run.result();
  return { result, view: await run.status() };
}

test("what a run has spent is told with its result, in tokens and dollars", async () => {
  const { result, view } = await play(
    spender([calls(1_000, 100), { text: "done", inputTokens: 2_000, outputTokens: 50 }], { usd: 1 }),
  );
  expect(result).toMatchObject({ outcome: "completed", spent: { tokens: 3_150, usd: 0.011_25 } });
  expect(view.spent).toEqual({ tokens: 3_150, usd: 0.011_25 });
});

test("a run without such a budget keeps no books", async () => {
  const { result } = await play(spender(["done"], { steps: 3 }));
  expect(result).not.toHaveProperty("spent");
});

test.each([
  ["tokens", { tokens: 10_000 }, calls(4_900, 100)],
  ["dollars", { usd: 0.04 }, calls(5_000, 300)],
])("a budget of %s ends the run before the model call that it cannot pay for", async (_what, budget, answer) => {
  let asked = 0;
  const counted = (): ScriptedAnswer => {
    asked += 1;
    return answer;
  };
  const { result } = await play(
    spender(
      Array.from({ length: 10 }, () => counted),
      budget,
    ),
  );
  expect(result).toMatchObject({ outcome: "stopped", code: "budget", steps: asked });
  expect(asked).toBe(2);
  expect(JSON.stringify(result)).toMatch(/Spent: .* of /);
});

test("the answer is bounded by what is left, and by the model", async () => {
  const caps: (number | undefined)[] = [];
  const saw =
    (answer: ScriptedAnswer) =>
    (request: ModelRequest): ScriptedAnswer => {
      caps.push(request.maxOutputTokens);
      return answer;
    };
  await play(spender([saw(calls(1_000, 1_000)), saw("done")], { tokens: 5_000 }));
  await play(spender([saw("done")], { tokens: 5_000 }, { maxOutputTokens: 64 }));
  await play(spender([saw("done")], { steps: 5 }));
  const [first = 0, second = 0, third, fourth] = caps;
  expect(first).toBeGreaterThan(4_000);
  expect(second).toBeLessThanOrEqual(2_000);
  expect(third).toBe(64);
  expect(fourth).toBeUndefined();
});

const piece = { type: "text-delta", text: "Once upon a" } as const;

test.each<[string, ScriptedAnswer, object]>([
  [
    "before anything of an answer came costs nothing, and is tried again",
    { error: "model-overloaded" },
    { outcome: "completed" },
  ],
  [
    "in the middle of an answer has spent what it held: nobody counted",
    { parts: [piece] },
    { outcome: "stopped", code: "budget" },
  ],
])("an attempt that fails %s", async (_what, failure, end) => {
  // Enough for one whole answer, not for two.
  const one = spender([{ attempts: [failure, "done"] }], { tokens: 1_000 }, { maxOutputTokens: 900 });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go");
  await t.advance("1s");
  expect(await run.result()).toMatchObject(end);
});

test("a provider that reports more than was held makes a visible overrun, and there is no further call", async () => {
  const { result } = await play(spender([calls(500_000, 500_000), "never"], { usd: 0.05 }));
  expect(result).toMatchObject({ outcome: "stopped", code: "budget", steps: 1, spent: { usd: 9 } });
});

test("a model call that failed has cost nothing", async () => {
  const failing: ScriptedAnswer = {
    attempts: [{ error: "model-overloaded" }, { text: "done", inputTokens: 10, outputTokens: 10 }],
  };
  const one = spender([failing], { tokens: 20_000 });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go");
  const result = run.result();
  await t.advance("5m");
  expect(await result).toMatchObject({ outcome: "completed", spent: { tokens: 20 } });
});

test.each([
  [{ tokens: 0 }, { prices }, "budget.tokens: must be a whole number"],
  [{ usd: 0 }, { prices }, "budget.usd: must be a number of dollars"],
  [{ usd: Number.NaN }, { prices }, "budget.usd: must be a number of dollars"],
  [
    { usd: 1 },
    {},
    'budget.usd: the model "scripted/scripted" has no prices, so nobody could count; say what it costs in dollars per million tokens, prices: { inputPerMillion: 3, outputPerMillion: 15 } in its description or in fromAiSdk(model, { … }), or bound the run by steps or tokens',
  ],
  [{ usd: 1 }, { prices: { inputPerMillion: 1 } }, /budget\.usd: the model .* has no prices/],
  [{ money: 1 }, { prices }, "budget.money: unknown option"],
])("a wrong budget is named: %o", (budget, description, problem) => {
  expect(() => spender(["done"], budget, description)).toThrow(problem);
});
