/** A model of the AI SDK in an agent: as it is, wrapped, or wrong. */
import { anthropic } from "@ai-sdk/anthropic";
import { openai } from "@ai-sdk/openai";
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, fromAiSdk, isHoldfastError, pool } from "../../../src/index.ts";
import { objectModel, wholeParts } from "./objects.ts";

const base = { name: "a", instructions: "Help." };
const prices = { inputPerMillion: 3, outputPerMillion: 15 };
const output = z.object({ ok: z.boolean() });

function problemsOf(make: () => unknown): readonly string[] {
  try {
    make();
  } catch (cause) {
    if (isHoldfastError(cause)) return cause.problems;
    throw cause;
  }
  return [];
}

test("models of the real packages are taken as they are, and say who they are", () => {
  expect(agent({ ...base, model: anthropic("claude-sonnet-4-5") }).model.description).toEqual({
    provider: "anthropic.messages",
    model: "claude-sonnet-4-5",
    toolCalls: true,
  });
  expect(agent({ ...base, model: openai("gpt-5") }).model.description).toMatchObject({ provider: "openai.responses" });
});

test.each(["v3", "v4"] as const)("a run is answered by an object of specification %s", async (version) => {
  const model = objectModel(version, [{ parts: wholeParts({ text: "Yes." }) }]);
  const helper = agent({ ...base, model });
  await using runtime = await createRuntime({ agents: [helper] });
  expect(await runtime.run(helper, "Ready?")).toMatchObject({ outcome: "completed", output: "Yes." });
});

test("an answer is typed by a tool of ours, unless the model is said to be bound to schemas", () => {
  const model = objectModel("v4", []);
  expect(agent({ ...base, model, output }).output?.spec.mode).toBe("tool");
  const bound = fromAiSdk(model, { structuredOutput: true });
  expect(agent({ ...base, model: bound, output }).output?.spec.mode).toBe("native");
  const plain = fromAiSdk(model, { toolCalls: false });
  expect(agent({ ...base, model: plain, output }).output?.spec.mode).toBe("text");
});

test("a budget in money needs prices, and the refusal says how to give them", () => {
  const budget = { usd: 1 };
  const [problem] = problemsOf(() => agent({ ...base, model: anthropic("claude-sonnet-4-5"), budget }));
  expect(problem).toContain("anthropic.messages/claude-sonnet-4-5");
  expect(problem).toContain("fromAiSdk(model, { … })");
  const priced = fromAiSdk(anthropic("claude-sonnet-4-5"), { prices });
  expect(agent({ ...base, model: priced, budget }).budget.microUsd).toBe(1_000_000);
});

const good = objectModel("v4", []);

test.each([
  ["another specification", { ...good, specificationVersion: "v2" }, 'specification "v2"; v3 and v4'],
  ["no specification", { ...good, specificationVersion: undefined }, "that it does not name"],
  ["no doStream", { ...good, doStream: undefined, doGenerate: () => 1 }, "without doStream"],
  ["no name", { ...good, modelId: "" }, "without provider or modelId"],
  ["a provider that was not called", anthropic, "gives a model when called with a name"],
  ["a getter that throws", throwing(), "that it does not name"],
])("%s is refused by agent() and by fromAiSdk(), with everything else that is wrong", (_, model, words) => {
  const problems = problemsOf(() => agent({ ...base, name: "?", model: model as never }));
  expect(problems).toEqual([expect.stringContaining("name:"), expect.stringContaining(`model: is `)]);
  expect(problems[1]).toContain(words);
  expect(problemsOf(() => fromAiSdk(model as never))[0]).toContain(words);
});

function throwing(): unknown {
  return {
    doStream: () => 1,
    get specificationVersion() {
      throw new Error("do not look");
    },
  };
}

test("what is no model at all is told what one is", () => {
  for (const model of [undefined, null, 7, {}, []]) {
    expect(problemsOf(() => agent({ ...base, model: model as never }))[0]).toMatch(
      /^model: must be a model: an AI SDK/,
    );
  }
});

test("what is said of a model is its description, and so part of the manifest", () => {
  const description = {
    contextWindow: 200_000,
    maxOutputTokens: 64_000,
    accepts: ["text", "image"],
    toolCalls: false,
    structuredOutput: true,
    prices,
  } as const;
  expect(fromAiSdk(good, description).description).toEqual({ provider: "hand.written", model: "m", ...description });
});

test("every problem of fromAiSdk's options is named", () => {
  const options = {
    contextWindow: 0,
    accepts: ["smell"],
    prices: { inputPerMillion: -1 },
    settings: { temperature: "hot" },
    headers: { a: 1, "b c": "x", d: "two\nlines" },
    onWarning: 1,
    nonsense: 1,
  };
  const problems = problemsOf(() => fromAiSdk(good, options as never)).join("\n");
  for (const name of Object.keys(options)) expect(problems).toContain(name);
  for (const name of ["a", "b c", "d"]) expect(problems).toContain(`headers.${name}: `);
  expect(problems).not.toContain('lines"');
  expect(problemsOf(() => fromAiSdk(good, null as never))).not.toEqual([]);
});

test("a pool takes it wrapped, and says so", () => {
  expect(pool([fromAiSdk(good)]).description.model).toBe("hand.written/m");
  expect(problemsOf(() => pool([good as never])).join()).toContain("fromAiSdk(model)");
});
