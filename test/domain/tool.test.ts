import { expect, test } from "vitest";
import { z } from "zod";
import { type HoldfastError, isHoldfastError } from "../../src/domain/errors.ts";
import type { StandardSchema } from "../../src/domain/standard-schema.ts";
import { type Tool, type ToolOptions, tool } from "../../src/domain/tool.ts";

const input = z.object({ order: z.string(), cents: z.number().int() });
const execute = (): string => "ok";
const good = { name: "refund", description: "Refund an order", input, execute };

/** What a caller without types may write. */
function define(options: unknown): Tool {
  return tool(options as ToolOptions<StandardSchema, unknown>);
}

function refusalOf(options: unknown): HoldfastError {
  try {
    define(options);
  } catch (error) {
    if (isHoldfastError(error, "invalid-tool")) return error;
    throw error;
  }
  throw new Error("the tool was defined");
}

function without(name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(good).filter(([key]) => key !== name));
}

test("the smallest tool takes the careful defaults", () => {
  expect(tool(good).spec).toEqual({
    name: "refund",
    version: "1",
    description: "Refund an order",
    inputSchema: expect.objectContaining({ type: "object", required: ["cents", "order"] }),
    effect: "once",
    resume: "replay",
    gate: "never",
    timeoutMs: 60_000,
    concurrency: 1_000,
    onUnknown: "ask",
    reconciles: false,
  });
  expect(tool(good).code).toEqual({ schema: input, execute });
});

test("every option arrives where it is read", () => {
  const needsApproval = (): boolean => true;
  const reconcile = async (): Promise<{ status: "not-done" }> => ({ status: "not-done" });
  const made = tool({
    ...good,
    version: "2",
    effect: "once",
    needsApproval,
    resume: "pass-decision-to-tool",
    timeoutMs: 5,
    concurrency: 2,
    onUnknown: "tell-model",
    reconcile,
  });
  expect(made.spec).toMatchObject({ version: "2", effect: "once", gate: "by-input", resume: "pass-decision-to-tool" });
  expect(made.spec).toMatchObject({ timeoutMs: 5, concurrency: 2, onUnknown: "tell-model", reconciles: true });
  expect(made.code).toEqual({ schema: input, needsApproval, execute, reconcile });
});

test("needsApproval is never, always or by input", () => {
  expect(tool({ ...good, needsApproval: false }).spec.gate).toBe("never");
  expect(tool({ ...good, needsApproval: true }).spec.gate).toBe("always");
  expect(tool({ ...good, needsApproval: true }).code).not.toHaveProperty("needsApproval");
});

test("a tool without execute is a question: the decision is its result", () => {
  const { execute: _execute, ...question } = good;
  expect(tool(question).spec.resume).toBe("use-decision-as-result");
  expect(tool({ ...question, resume: "use-decision-as-result" }).code).not.toHaveProperty("execute");
});

test("undefined is the same as leaving an option out", () => {
  const left = { version: undefined, effect: undefined, timeoutMs: undefined, needsApproval: undefined };
  expect(define({ ...good, ...left }).spec).toEqual(tool(good).spec);
});

const wrong: readonly [string, unknown, string][] = [
  ["name", undefined, "name: must match"],
  ["name", "", "name: must match"],
  ["name", "re fund", "name: must match"],
  ["name", "x".repeat(65), "name: must match"],
  ["name", 7, "name: must match"],
  ["description", undefined, "description: must be a non-empty string"],
  ["description", "", "description: must be a non-empty string"],
  ["description", 7, "description: must be a non-empty string"],
  ["input", undefined, "input: must be a Standard Schema"],
  ["input", { type: "object" }, "input: must be a Standard Schema"],
  ["input", "string", "input: must be a Standard Schema"],
  ["version", "", "version: must be a non-empty string"],
  ["version", 2, "version: must be a non-empty string"],
  ["effect", "transactional", "effect: must be one of pure, idempotent, once"],
  ["effect", null, "effect: must be one of pure, idempotent, once"],
  ["needsApproval", "yes", "needsApproval: must be a boolean or a function"],
  ["resume", "later", "resume: must be one of replay, use-decision-as-result, pass-decision-to-tool"],
  ["timeoutMs", 0, "timeoutMs: must be a whole number from 1 to 86400000"],
  ["timeoutMs", 86_400_001, "timeoutMs: must be a whole number from 1 to 86400000"],
  ["timeoutMs", 1.5, "timeoutMs: must be a whole number from 1 to 86400000"],
  ["timeoutMs", "60", "timeoutMs: must be a whole number from 1 to 86400000"],
  ["timeoutMs", Number.POSITIVE_INFINITY, "timeoutMs: must be a whole number from 1 to 86400000"],
  ["timeoutMs", Number.NaN, "timeoutMs: must be a whole number from 1 to 86400000"],
  ["concurrency", 0, "concurrency: must be a whole number from 1 to 1000"],
  ["concurrency", 1_001, "concurrency: must be a whole number from 1 to 1000"],
  ["onUnknown", "guess", "onUnknown: must be one of ask, tell-model"],
  ["reconcile", true, "reconcile: must be a function (key, input)"],
  ["execute", "run", "execute: must be a function (input, context)"],
  ["execute", null, "execute: must be a function (input, context)"],
];

test.each(wrong)("%s: %o is refused by name", (name, value, problem) => {
  const { problems } = refusalOf({ ...good, [name]: value });
  expect(problems.filter((each) => each.startsWith(problem))).toHaveLength(1);
});

test.each(["name", "description", "input"])("%s cannot be left out", (name) => {
  expect(refusalOf(without(name)).problems[0]).toMatch(new RegExp(`^${name}: must`));
});

test.each([1, 86_400_000])("timeoutMs takes %i, its very limit", (timeoutMs) => {
  expect(tool({ ...good, timeoutMs }).spec.timeoutMs).toBe(timeoutMs);
});

test("an unknown option is refused and the known ones are named", () => {
  const { problems } = refusalOf({ ...good, timeout: 5 });
  expect(problems).toEqual([expect.stringMatching(/^timeout: unknown option; known are name, description, input, /)]);
});

test("one error names every problem and the tool", () => {
  const error = refusalOf({ name: "refund", input: 1, effect: "x", timeoutMs: 0, retries: 3, execute });
  const names = error.problems.map((problem) => problem.split(":")[0]);
  expect(names.sort()).toEqual(["description", "effect", "input", "retries", "timeoutMs"]);
  expect(error.message).toContain('Tool "refund" cannot be defined');
  for (const problem of error.problems) expect(error.message).toContain(problem);
});

test.each([null, undefined, "refund", 7, [], () => 1])("%o is no options record", (options) => {
  expect(refusalOf(options).problems[0]).toMatch(/^options must be an object, got /);
});

const combinations: readonly [string, object, string][] = [
  ["reconcile of a pure tool", { effect: "pure", reconcile: execute }, 'reconcile: only "once" tools are reconciled'],
  ["reconcile of an idempotent tool", { effect: "idempotent", reconcile: execute }, 'reconcile: only "once"'],
  ["replay of a question", { execute: undefined, resume: "replay" }, "resume: replay needs execute"],
  ["a decision for no code", { execute: undefined, resume: "pass-decision-to-tool" }, "resume: pass-decision-to-tool"],
  ["reconcile of a question", { execute: undefined, reconcile: execute }, "reconcile: needs execute"],
  ["approval of a question", { execute: undefined, needsApproval: true }, "needsApproval: needs execute"],
  ["an effect class of a question", { execute: undefined, effect: "pure" }, "effect: needs execute"],
  ["a timeout of a question", { execute: undefined, timeoutMs: 5 }, "timeoutMs: needs execute"],
  ["unknown outcomes of a pure tool", { effect: "pure", onUnknown: "ask" }, 'onUnknown: only "once"'],
  ["code that never runs", { resume: "use-decision-as-result" }, "resume: use-decision-as-result means no execute"],
];

test.each(combinations)("%s is refused", (_name, options, problem) => {
  expect(refusalOf({ ...good, ...options }).problems).toEqual([expect.stringContaining(problem)]);
});

function schemaWith(jsonSchema: unknown): unknown {
  return { "~standard": { version: 1, vendor: "home-made", validate: (value: unknown) => ({ value }), jsonSchema } };
}

test("a schema that offers no JSON Schema is refused, naming its vendor", () => {
  const { problems } = refusalOf({ ...good, input: schemaWith(undefined) });
  expect(problems).toEqual(["input: home-made offers no JSON Schema through Standard Schema"]);
});

test("a schema that cannot be converted is refused with the reason", () => {
  const throwing = (): never => {
    throw new Error("dates have no JSON Schema");
  };
  const problem = "input: cannot be converted to JSON Schema: dates have no JSON Schema";
  expect(refusalOf({ ...good, input: schemaWith({ input: throwing }) }).problems).toEqual([problem]);
  expect(refusalOf({ ...good, input: z.object({ at: z.date() }) }).problems[0]).toContain("cannot be converted");
});

test("a conversion that is not JSON is refused with its place", () => {
  const odd = schemaWith({ input: () => ({ properties: { check: () => 1 } }) });
  const problem = "input: its JSON Schema is not JSON at $.properties.check: a function";
  expect(refusalOf({ ...good, input: odd }).problems).toEqual([problem]);
});
