/** Schemas as they can be: checked when the agent is defined, and not believed when they check. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agent, jsonSchema, tool } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
import { output, play } from "./play.ts";

const value = { note: "refunded", cents: 5 };
const modes = {
  text: [scripted([JSON.stringify(value), JSON.stringify(value)])],
  tool: [
    scripted(
      [1, 2].map(() => ({ calls: [{ tool: "holdfast_answer", input: value }] })),
      { description: { toolCalls: true } },
    ),
  ],
} as const;

type Validate = (typeof output)["~standard"]["validate"];

/** zod's schema of the output, with another check. */
function checkedBy(validate: (candidate: unknown) => unknown) {
  return { "~standard": { ...output["~standard"], validate: validate as Validate } };
}

function clerk(mode: keyof typeof modes, validate: (candidate: unknown) => unknown) {
  return agent({
    name: "clerk",
    model: modes[mode][0],
    instructions: "Help.",
    output: checkedBy(validate),
    repairs: 0,
  });
}

// biome-ignore lint/suspicious/noThenProperty: what a library of promises may give
const thenable = { then: (ok: (given: object) => void) => ok({ value }) };
const fine = { valid: true, value };
const threw = (words: string): object => ({ valid: false, problems: [expect.stringContaining(words)] });
const fail = (): never => {
  throw new Error("boom");
};

describe.each(["text", "tool"] as const)("a check in %s mode that", (mode) => {
  test.each([
    ["takes its time", async () => ({ value }), fine],
    ["gives a promise of another kind", () => thenable, fine],
    ["throws", fail, threw("Checking it threw: boom")],
    ["rejects", async () => fail(), threw("Checking it threw: boom")],
    ["rejects with nothing", () => Promise.reject(undefined), threw("Checking it threw")],
    ["gives nothing", () => undefined, threw("Checking it threw")],
    ["gives nothing later", async () => undefined, threw("Checking it threw")],
    ["gives neither a value nor issues", () => ({}), threw("neither a value nor issues")],
    ["gives a Date", () => ({ value: { at: [new Date()] } }), threw("a Date or the like")],
    ["gives what is not JSON", () => ({ value: { at: 1n } }), threw("not JSON at $.at")],
    [
      "gives what throws when it is read",
      () => ({ value: Object.defineProperty({}, "a", { enumerable: true, get: fail }) }),
      threw("boom"),
    ],
    ["gives issues that are none", () => ({ issues: 7 }), threw("Checking it threw")],
  ])("%s comes to a report", async (_how, validate, report) => {
    const { reports, result } = await play(clerk(mode, validate));
    expect(reports).toEqual([report]);
    expect(result.outcome).toBe(report === fine ? "completed" : "failed");
  });

  test("hangs has refused, once its time is over", async () => {
    const one = clerk(mode, () => new Promise<never>(() => undefined));
    await using t = await testRuntime({ agents: [one] });
    const run = await t.runtime.start(one, "go");
    await t.settle();
    await t.advance("10m");
    const result = await run.result();
    expect(result).toMatchObject({ outcome: "failed", error: { code: "output-invalid" } });
    expect(JSON.stringify(result)).toContain("Checking it did not end within");
  });

  test("changes what it checks does not change what the model has said", async () => {
    const { messages, result } = await play(
      clerk(mode, (candidate) => {
        (candidate as { note: string }).note = "changed";
        return { value: candidate };
      }),
    );
    expect(result).toMatchObject({ outcome: "completed", output: { note: "changed" } });
    expect(JSON.stringify(messages)).toContain("refunded");
    expect(JSON.stringify(messages)).not.toContain("changed");
  });
});

describe("a schema that cannot be converted is refused when the agent is defined", () => {
  const converting = (input: () => unknown) => ({
    "~standard": { ...output["~standard"], jsonSchema: { input, output: input } },
  });
  const bare = { "~standard": { version: 1, vendor: "by-hand", validate: (given: unknown) => ({ value: given }) } };

  test.each([
    [z.date(), "output: cannot be converted to JSON Schema"],
    [z.object({ big: z.bigint() }), "output: cannot be converted to JSON Schema"],
    [z.custom(() => true), "output: cannot be converted to JSON Schema"],
    [bare, "output: by-hand offers no JSON Schema"],
    [converting(fail), "output: cannot be converted to JSON Schema: boom"],
    [converting(() => "object"), "it must be given at once, as an object"],
    [converting(() => [{}]), "it must be given at once, as an object"],
    [converting(async () => ({})), "it must be given at once, as an object"],
    [converting(() => ({ type: () => 1 })), "its JSON Schema is not JSON at $.type"],
    [jsonSchema({ type: "strnig" }), "output: cannot be converted to JSON Schema: schema is invalid"],
    [jsonSchema({ $ref: "#/$defs/nowhere" }), "can't resolve reference #/$defs/nowhere"],
    [jsonSchema({ $ref: "https://example.com/schema.json" }), "can't resolve reference"],
    [jsonSchema({ pattern: "(" }), "output: cannot be converted to JSON Schema"],
  ])("%#: %s", (schema, problem) => {
    const model = scripted(["{}"]);
    const define = () => agent({ name: "clerk", model, instructions: "Help.", output: schema as never });
    expect(define).toThrow(problem as string);
  });

  test("and so is a tool's", () => {
    const input = jsonSchema({ type: "strnig" });
    expect(() => tool({ name: "look", description: "Looks", input })).toThrow("input: cannot be converted");
  });
});
