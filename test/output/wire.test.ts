/** Typed answers over a real provider's wire: what a server is sent in each mode, and that it would take it. */
import { expect, test } from "vitest";
import { agent, createRuntime } from "../../src/index.ts";
import { openaiCompatible } from "../../src/openai.ts";
import { type Dialect, dialects, eventsOf } from "../models/openai/dialects.ts";
import { openPlayServer } from "../models/openai/play-server.ts";
import { output } from "./play.ts";

const openai = dialects["openai"] as Dialect;
const value = { note: "refunded", cents: 5 };

const calling = (input: object) => ({
  chunks: eventsOf(
    { calls: [{ tool: "holdfast_answer", inputText: JSON.stringify(input) }], finish: "tool-calls" },
    openai,
  ),
});

async function sentBy(plays: Parameters<typeof openPlayServer>[0], description: object) {
  await using server = await openPlayServer(plays);
  const model = openaiCompatible({ baseURL: server.baseURL, model: "m", description });
  const one = agent({ name: "clerk", model, instructions: "Help.", output });
  await using runtime = await createRuntime({ agents: [one] });
  const result = await runtime.run(one, "go");
  return { result, bodies: server.sent.map(({ body }) => JSON.parse(body)) };
}

test("by the answer tool, a repair is a call and its result, as servers want it", async () => {
  const { result, bodies } = await sentBy([calling({ note: "refunded" }), calling(value)], { toolCalls: true });
  expect(result).toMatchObject({ outcome: "completed", output: value, steps: 2 });
  const [first, second] = bodies;
  expect(first.tools).toMatchObject([{ type: "function", function: { name: "holdfast_answer" } }]);
  expect(first).not.toHaveProperty("response_format");
  expect(second.messages.map(({ role }: { role: string }) => role)).toEqual(["system", "user", "assistant", "tool"]);
  const [, , asked, told] = second.messages;
  expect(told.tool_call_id).toBe(asked.tool_calls[0].id);
  expect(told.content).toContain("cents");
});

test("natively, the schema is the response format and there is no tool", async () => {
  const answer = { chunks: eventsOf({ text: JSON.stringify(value) }, openai) };
  const { result, bodies } = await sentBy([answer], { toolCalls: true, structuredOutput: true });
  expect(result).toMatchObject({ outcome: "completed", output: value, steps: 1 });
  expect(bodies[0]).not.toHaveProperty("tools");
  expect(bodies[0].response_format).toMatchObject({ type: "json_schema", json_schema: { schema: { type: "object" } } });
});
