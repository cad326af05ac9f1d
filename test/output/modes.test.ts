/** How a model is asked for the output: native where it can be bound, else by the answer tool, else in words. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { ModelDescription } from "../../src/domain/model.ts";
import { type AgentOptions, agent, plugin, tool } from "../../src/index.ts";
import { type ScriptedAnswer, scripted } from "../../src/testing.ts";
import { asked, output, play } from "./play.ts";

const value = { note: "refunded", cents: 5 };
const text = JSON.stringify(value);
const call: ScriptedAnswer = { calls: [{ tool: "holdfast_answer", input: value }] };

type Said = Omit<ModelDescription, "provider" | "model">;
type More = Partial<AgentOptions<never, never>>;

function clerk(answers: readonly ScriptedAnswer[], description: Said, more: More = {}) {
  const model = scripted(answers, { description });
  return agent({ name: "clerk", model, instructions: "Help.", output, ...(more as object) });
}

describe("the mode", () => {
  test.each([
    [{}, "text"],
    [{ toolCalls: false }, "text"],
    [{ structuredOutput: false }, "text"],
    [{ toolCalls: true }, "tool"],
    [{ toolCalls: true, structuredOutput: false }, "tool"],
    [{ structuredOutput: true }, "native"],
    [{ toolCalls: true, structuredOutput: true }, "native"],
    [{ toolCalls: false, structuredOutput: true }, "native"],
  ] as const)("of a model that says %o is %s", (said, mode) => {
    expect(clerk([], said).output?.spec.mode).toBe(mode);
  });

  test.each([
    [{}, "tool"],
    [{}, "text"],
    [{ toolCalls: true, structuredOutput: true }, "text"],
    [{ toolCalls: true, structuredOutput: true }, "tool"],
  ] as const)("of a model that says %o may be said to be %s", (said, outputMode) => {
    expect(clerk([], said, { outputMode }).output?.spec.mode).toBe(outputMode);
  });

  test.each([
    [{}, { outputMode: "native" }, "outputMode: native needs a model with structuredOutput"],
    [{ toolCalls: true }, { outputMode: "native" }, "outputMode: native needs a model with structuredOutput"],
    [{ toolCalls: false }, { outputMode: "tool" }, "outputMode: the model cannot call tools"],
    [{}, { outputMode: "json" }, "outputMode: must be one of"],
    [{}, { output: undefined, outputMode: "text" }, "outputMode: needs output"],
  ])("of a model that says %o is refused as %o", (said, more, problem) => {
    expect(() => clerk([], said, more as never)).toThrow(problem);
  });

  test("decides what the model is sent, and nothing about the output", async () => {
    const modes = { native: [text, { structuredOutput: true }], tool: [call, { toolCalls: true }], text: [text, {}] };
    for (const [mode, [answer, said]] of Object.entries(modes)) {
      const { requests, answers } = asked([answer as ScriptedAnswer]);
      const { result } = await play(clerk(answers, said as Said));
      expect(result, mode).toMatchObject({ outcome: "completed", output: value, steps: 1 });
      const [request] = requests;
      expect(request?.output !== undefined, mode).toBe(mode === "native");
      expect(request?.tools.map(({ name }) => name)).toEqual(mode === "tool" ? ["holdfast_answer"] : []);
      expect(request?.instructions.includes("JSON Schema"), mode).toBe(mode === "text");
      expect(request?.instructions === "Help.", mode).toBe(mode === "native");
      expect(request?.instructions.includes("calling holdfast_answer"), mode).toBe(mode === "tool");
    }
  });
});

describe("the answer tool", () => {
  test("has the output schema as its input, and the agent's tools beside it", async () => {
    const { requests, answers } = asked([call]);
    const look = tool({ name: "look", description: "Looks", input: z.object({}), execute: () => 1 });
    await play(clerk(answers, { toolCalls: true }, { tools: [look] }));
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(["look", "holdfast_answer"]);
    expect(requests[0]?.tools[1]?.inputSchema).toMatchObject({ type: "object", required: ["cents", "note"] });
  });

  test("is no plugin's to take away", async () => {
    const { requests, answers } = asked([call]);
    const strict = plugin({
      name: "strict",
      create: () => ({ hooks: { "before-model": () => ({ type: "restrict-tools", tools: [] }) } }),
    });
    const { result } = await play(clerk(answers, { toolCalls: true }, { plugins: [strict()] }));
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(["holdfast_answer"]);
    expect(result).toMatchObject({ output: value });
  });

  test.each(["holdfast_answer", "holdfast_anything"])("no other tool is called %s", (name) => {
    const input = z.object({});
    expect(() => tool({ name, description: "x", input })).toThrow("names that begin with holdfast_ are Holdfast's own");
    const { spec, code } = tool({ name: "other", description: "x", input });
    const forged = { spec: { ...spec, name }, code };
    expect(() => clerk([], {}, { tools: [forged] })).toThrow(`${name}: names that begin with holdfast_`);
  });
});

describe("a schema that is no object is wrapped in one", () => {
  const answered = async (schema: z.ZodType, answer: unknown) => {
    const { requests, answers } = asked([
      { calls: [{ tool: "holdfast_answer", input: answer }] },
      { calls: [{ tool: "holdfast_answer", input: answer }] },
    ]);
    const model = scripted(answers, { description: { toolCalls: true } });
    const one = agent({ name: "clerk", model, instructions: "Help.", output: schema, repairs: 0 });
    return { ...(await play(one)), schema: requests[0]?.tools[0]?.inputSchema };
  };

  test.each([
    [z.array(z.number()), [1, 2]],
    [z.string(), "yes"],
    [z.union([z.object({ a: z.number() }), z.object({ b: z.number() })]), { b: 2 }],
    [z.null(), null],
  ])("%#: the answer is what is inside", async (schema, answer) => {
    const { result, schema: input } = await answered(schema, { answer });
    expect(result).toMatchObject({ outcome: "completed", output: answer });
    expect(input).toMatchObject({ type: "object", required: ["answer"], additionalProperties: false });
    expect(input).not.toHaveProperty("properties.answer.$schema");
  });

  test.each([[[1, 2]], [{}], [{ answer: [1], more: 1 }], ["[1]"]])("%j is no such object", async (input) => {
    const { result, reports } = await answered(z.array(z.number()), input);
    expect(reports).toEqual([{ valid: false, problems: ['It must be an object with "answer" and nothing else'] }]);
    expect(result).toMatchObject({ outcome: "failed" });
  });

  test("what refers to its own parts still finds them", async () => {
    type Tree = readonly { readonly name: string; readonly leaves: Tree }[];
    const tree: z.ZodType<Tree> = z.array(z.object({ name: z.string(), leaves: z.lazy(() => tree) }));
    const { result, schema } = await answered(tree, { answer: [{ name: "a", leaves: [] }] });
    expect(result).toMatchObject({ outcome: "completed" });
    const { createAjvChecker } = await import("../../src/platform/ajv-checker.ts");
    const problems = (leaves: unknown) =>
      createAjvChecker().problems(schema ?? {}, { answer: [{ name: "a", leaves }] } as never);
    expect(await problems([{ name: "b", leaves: [] }])).toEqual([]);
    expect(await problems([{ name: 7, leaves: [] }])).not.toEqual([]);
  });
});
