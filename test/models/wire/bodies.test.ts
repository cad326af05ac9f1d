/** Pictures and schemas in the body of a request, in each wire's own words. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime } from "../../../src/index.ts";
import type { PlayedAnswer } from "../../../src/testing/conformance/model-fixtures.ts";
import { type Body, bodiesOf, serve, type Wire, wires } from "./wires.ts";

const png = "data:image/png;base64,AAEC";

interface Words {
  readonly picture: object;
  /** Where a native schema is. */
  readonly schema: (body: Body) => Body;
  /** The name of a tool and its schema. */
  readonly tool: (tool: Body) => readonly [string, Body];
  /** What the model is told of its answer that did not fit. */
  readonly told: (body: Body) => Body;
}

const chat: Words = {
  picture: { type: "image_url", image_url: { url: png } },
  schema: ({ response_format }) => {
    expect(response_format).toMatchObject({ type: "json_schema", json_schema: { name: "output" } });
    return response_format.json_schema.schema;
  },
  tool: ({ type, function: { name, parameters } }) => {
    expect(type).toBe("function");
    return [name, parameters];
  },
  told: ({ messages }) => messages.findLast(({ role }: Body) => role === "tool").content,
};

const words: Record<keyof typeof wires, Words> = {
  "openai-compatible": chat,
  "openai-compatible, with marks": { ...chat, told: (body) => chat.told(body)[0].text },
  "@ai-sdk/openai, chat completions": chat,
  "@ai-sdk/anthropic": {
    picture: { type: "image", source: { type: "base64", media_type: "image/png", data: "AAEC" } },
    schema: ({ output_config: { format } }) => {
      expect(format.type).toBe("json_schema");
      return format.schema;
    },
    tool: ({ name, input_schema }) => [name, input_schema],
    told: ({ messages }) => messages.at(-1).content.find(({ type }: Body) => type === "tool_result").content,
  },
  "@ai-sdk/openai, responses": {
    picture: { type: "input_image", image_url: png },
    schema: ({ text: { format } }) => {
      expect(format).toMatchObject({ type: "json_schema", name: "output" });
      return format.schema;
    },
    tool: ({ type, name, parameters }) => {
      expect(type).toBe("function");
      return [name, parameters];
    },
    told: ({ input }) => input.findLast(({ type }: Body) => type === "function_call_output").output,
  },
};

const output = z.object({ sum: z.number() });
const needed = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] };
const answered = (input: object): PlayedAnswer => ({
  calls: [{ tool: "holdfast_answer", inputText: JSON.stringify(input) }],
});

describe.each(Object.keys(wires) as (keyof typeof wires)[])("%s", (name) => {
  const wire: Wire = wires[name];
  const { picture, schema, tool, told } = words[name];

  test("a picture is in the body, beside its text, and again with the next message", async () => {
    await using server = await serve(wire, [{ text: "A cat." }, { text: "Black." }]);
    const viewer = agent({ name: "viewer", instructions: "", model: wire.model(server.baseURL) });
    await using runtime = await createRuntime({ agents: [viewer] });
    const parts = [
      { type: "text", text: "What is it?" },
      { type: "image", mediaType: "image/png", url: png },
    ] as const;
    await (await runtime.start(viewer, parts, { thread: "t" })).output();
    await (await runtime.start(viewer, "What colour?", { thread: "t" })).output();
    for (const { [wire.conversation]: conversation } of bodiesOf(server)) {
      expect(conversation[0].content).toMatchObject([{ text: "What is it?" }, picture]);
    }
    expect(server.sent).toHaveLength(2);
  });

  test("a schema is in the body where the model can be bound to it, and no tool is offered for it", async () => {
    await using server = await serve(wire, [{ text: '{"sum":3}' }]);
    const model = wire.model(server.baseURL, { structuredOutput: true });
    const bound = agent({ name: "bound", instructions: "", model, output });
    await using runtime = await createRuntime({ agents: [bound] });
    expect(await runtime.run(bound, "1 + 2?")).toMatchObject({ output: { sum: 3 } });
    const [body] = bodiesOf(server);
    expect(schema(body)).toMatchObject(needed);
    expect(body).not.toHaveProperty("tools");
  });

  test("elsewhere it is a tool's, and an answer that does not fit is told why", async () => {
    await using server = await serve(wire, [answered({ sum: "three" }), answered({ sum: 3 })]);
    const model = wire.model(server.baseURL, { toolCalls: true });
    const asked = agent({ name: "asked", instructions: "", model, output });
    await using runtime = await createRuntime({ agents: [asked] });
    expect(await runtime.run(asked, "1 + 2?")).toMatchObject({ output: { sum: 3 } });
    const [body, repair] = bodiesOf(server);
    expect(body.tools.map(tool)).toEqual([["holdfast_answer", expect.objectContaining(needed)]]);
    expect(repair.tools).toEqual(body.tools);
    for (const sent of [body, repair]) {
      for (const field of ["response_format", "output_config", "text"]) expect(sent).not.toHaveProperty(field);
    }
    expect(told(repair)).toContain("sum");
  });
});
