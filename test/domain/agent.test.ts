import { expect, test } from "vitest";
import { z } from "zod";
import { type Agent, type AgentOptions, agent } from "../../src/domain/agent.ts";
import { type HoldfastError, isHoldfastError } from "../../src/domain/errors.ts";
import { declare } from "../../src/domain/manifest.ts";
import type { StandardSchema } from "../../src/domain/standard-schema.ts";
import { tool } from "../../src/domain/tool.ts";

const model = { description: { provider: "scripted", model: "one" } };
const good = { name: "support", model, instructions: "Be kind." };

function toolNamed(name: string): ReturnType<typeof tool> {
  return tool({ name, description: name, input: z.object({}), execute: () => 1 }) as ReturnType<typeof tool>;
}

function define(options: unknown): Agent {
  return agent(options as AgentOptions<StandardSchema>);
}

function refusalOf(options: unknown): HoldfastError {
  try {
    define(options);
  } catch (error) {
    if (isHoldfastError(error, "invalid-agent")) return error;
    throw error;
  }
  throw new Error("the agent was defined");
}

test("the smallest agent has no tools and fifty steps", () => {
  expect(agent(good)).toEqual({
    ...good,
    version: "1",
    onUpgrade: "pinned",
    provider: "scripted",
    tools: [],
    delegates: [],
    plugins: [],
    stateKeys: [],
    sinks: [],
    budget: { steps: 50 },
  });
});

test("every option arrives where it is read", () => {
  const context = z.object({ tier: z.string() });
  const instructions = ({ tier }: { tier: string }): string => `Serve ${tier} customers.`;
  const tools = [toolNamed("a"), toolNamed("b")];
  const made = agent({ name: "support", model, instructions, tools, context, budget: { steps: 3, wallTime: 500 } });
  const budget = { steps: 3, wallTimeMs: 500 };
  expect(made).toMatchObject({ name: "support", model, instructions, tools, context, budget });
  expect(made.contextSchema).toMatchObject({ type: "object", properties: { tier: { type: "string" } } });
});

test("a context schema without a JSON form is refused by name", () => {
  const make = (): unknown => agent({ name: "support", model, instructions: "x", context: z.object({ at: z.date() }) });
  expect(make).toThrow(/context: cannot be converted to JSON Schema/);
});

const budgetRule = "must be a whole number from 1 to";
const wrong: readonly [string, unknown, string][] = [
  ["name", undefined, "name: must match"],
  ["name", "", "name: must match"],
  ["name", "my agent", "name: must match"],
  ["name", "x".repeat(65), "name: must match"],
  ["model", undefined, "model: must be a model"],
  ["model", null, "model: must be a model"],
  ["model", "claude", "model: must be a model"],
  ["model", { description: { provider: "x" } }, "model: must be a model"],
  ["instructions", undefined, "instructions: must be a string or a function"],
  ["instructions", ["a"], "instructions: must be a string or a function"],
  ["context", { type: "object" }, "context: must be a Standard Schema"],
  ["tools", {}, "tools: must be a list"],
  ["tools", null, "tools: must be a list"],
  ["tools", [null], "tools[0]: must come from tool({ … })"],
  ["tools", [{ name: "a" }], "tools[0]: must come from tool({ … })"],
  ["budget", null, "budget.options must be an object, got null"],
  ["budget", 5, "budget.options must be an object, got number"],
  ["budget", [], "budget.options must be an object, got a list"],
  ["budget", { steps: 0 }, `budget.steps: ${budgetRule} 1000000`],
  ["budget", { steps: 1_000_001 }, `budget.steps: ${budgetRule} 1000000`],
  ["budget", { steps: 2.5 }, `budget.steps: ${budgetRule} 1000000`],
  ["budget", { wallTime: 0 }, `budget.wallTime: ${budgetRule} 31622400000`],
  ["budget", { wallTime: "1h" }, `budget.wallTime: ${budgetRule} 31622400000`],
  ["budget", { usd: 1 }, "has no prices, so nobody could count"],
  ["budget", { euro: 1 }, "budget.euro: unknown option; known are steps, wallTime, tokens, usd"],
];

test.each(wrong)("%s: %o is refused by name", (name, value, problem) => {
  expect(refusalOf({ ...good, [name]: value }).problems).toEqual([expect.stringContaining(problem)]);
});

test.each(["memory", "temperature"])("what is not built is refused: %s", (name) => {
  const { problems } = refusalOf({ ...good, [name]: {} });
  expect(problems).toEqual([
    `${name}: unknown option; known are name, version, onUpgrade, model, instructions, tools, delegates, handoffs, context, output, outputMode, repairs, onInvalid, history, policy, plugins, budget, sinks`,
  ]);
});

test("two tools of one name are refused, saying which", () => {
  const tools = [toolNamed("a"), toolNamed("b"), toolNamed("a")];
  expect(refusalOf({ ...good, tools }).problems).toEqual(["tools[2]: the name a is used twice"]);
});

test("one error names every problem and the agent", () => {
  const error = refusalOf({ name: "support", tools: [1], budget: { steps: -1, usd: 1 }, voice: "alto" });
  const places = error.problems.map((problem) => problem.split(":")[0]);
  expect(places.sort()).toEqual(["budget.steps", "budget.usd", "instructions", "model", "tools[0]", "voice"]);
  expect(error.message).toContain('Agent "support" cannot be defined');
});

test.each([null, undefined, "support", []])("%o is no options record", (options) => {
  expect(refusalOf(options).problems[0]).toMatch(/^options must be an object, got /);
});

test("the declared manifest is data: tools by name, code by its kind", () => {
  const context = z.object({ tier: z.string() });
  const tools = [toolNamed("b"), toolNamed("c"), toolNamed("a")];
  const declared = declare(agent({ ...good, tools, context, budget: { steps: 3 } }) as Agent);
  expect(declared).toMatchObject({
    format: 1,
    agent: "support",
    model: { provider: "scripted", model: "one" },
    instructions: { kind: "text", text: "Be kind." },
    context: { type: "object", required: ["tier"] },
    budget: { steps: 3 },
  });
  expect(declared.tools.map((spec) => spec.name)).toEqual(["a", "b", "c"]);
  expect(JSON.parse(JSON.stringify(declared))).toStrictEqual(declared);
});

test("instructions that are code are declared as code; no context is null", () => {
  const declared = declare(agent({ ...good, instructions: () => "secret text" }) as Agent);
  expect(declared).toMatchObject({ instructions: { kind: "function" }, context: null });
  expect(JSON.stringify(declared)).not.toContain("secret");
});
