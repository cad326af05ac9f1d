/** Whole runs with the real packages over local servers: what is on the wire, request by request. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { expect, test } from "vitest";
import { z } from "zod";
import { type Agent, agent, createRuntime, fromAiSdk, type Model, type RunResult, tool } from "../../../src/index.ts";
import { sqlite } from "../../../src/sqlite.ts";
import { openPlayServer, type Play, type PlayServer } from "../openai/play-server.ts";
import { type AnthropicReply, anthropicEvents, anthropicPlay, event, signature } from "./anthropic-wire.ts";
import { encrypted, responsesEvents } from "./responses-wire.ts";

const add = tool({
  name: "add",
  description: "Adds two numbers",
  input: z.object({ a: z.number(), b: z.number() }),
  effect: "pure",
  execute: ({ a, b }) => {
    if (a < 0) throw new Error("no negative numbers");
    return { sum: a + b };
  },
});

interface Body {
  readonly [field: string]: unknown;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly input: readonly { readonly [field: string]: unknown }[];
}

const bodies = (server: PlayServer): readonly Body[] => server.sent.map(({ body }) => JSON.parse(body) as Body);
const claude = (server: PlayServer) =>
  createAnthropic({ baseURL: server.baseURL, apiKey: "sk-ant-0123456789" })("claude-sonnet-4-5");
const gpt = (server: PlayServer) => createOpenAI({ baseURL: server.baseURL, apiKey: "sk-0123456789abcdef" })("gpt-5");

async function run<Output>(helper: Agent<Output>, input = "What is 1 + 2?"): Promise<RunResult<Output>> {
  await using runtime = await createRuntime({ agents: [helper], limits: { modelAttempts: 2 } });
  return await runtime.run(helper, input);
}

const helperOf = (model: Model | ReturnType<typeof claude>) =>
  agent({ name: "helper", instructions: "Add.", model, tools: [add] });

const twoCalls = [
  { tool: "add", inputText: '{"a":1,"b":2}' },
  { tool: "add", inputText: '{"a":-1,"b":2}' },
];

const answers = (...replies: readonly AnthropicReply[]): readonly Play[] =>
  replies.map((reply) => ({ chunks: anthropicEvents(reply) }));

test("anthropic: thoughts go back with their signatures, calls in parallel with their results and errors", async () => {
  await using server = await openPlayServer(
    answers(
      { reasoning: "Two sums.", redacted: "REDACTED==", text: "Let me add.", calls: twoCalls, usage: null },
      { text: "3", usage: { inputTokens: 120, outputTokens: 9, cacheReadTokens: 100 }, cacheWrite: 15 },
    ),
  );
  const helper = helperOf(claude(server));
  await using runtime = await createRuntime({ agents: [helper] });
  const started = await runtime.start(helper, "What is 1 + 2?");
  expect(await started.output()).toBe("3");
  const [first, second] = bodies(server);
  expect(first).toMatchObject({
    model: "claude-sonnet-4-5",
    stream: true,
    system: [{ type: "text", text: "Add." }],
    tools: [{ name: "add", description: "Adds two numbers", input_schema: { required: ["a", "b"] } }],
  });
  expect(second?.messages.slice(0, 1)).toEqual(first?.messages); // the prefix stays what it was
  expect(second?.messages.slice(1)).toEqual([
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Two sums.", signature },
        { type: "redacted_thinking", data: "REDACTED==" },
        { type: "text", text: "Let me add." },
        { type: "tool_use", id: "toolu_00", name: "add", input: { a: 1, b: 2 } },
        { type: "tool_use", id: "toolu_01", name: "add", input: { a: -1, b: 2 } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_00", content: '{"sum":3}' },
        expect.objectContaining({ type: "tool_result", tool_use_id: "toolu_01", is_error: true }),
      ],
    },
  ]);
  const usages: unknown[] = [];
  for await (const told of started.watch()) {
    if (told.type === "effect-settled" && told.result.kind === "done") usages.push(told.result.usage);
  }
  expect(usages).toContainEqual({ inputTokens: 120, outputTokens: 9, cacheReadTokens: 100, cacheWriteTokens: 15 });
});

test("openai: encrypted thoughts, items and calls go back verbatim where the server keeps nothing", async () => {
  await using server = await openPlayServer([
    { chunks: responsesEvents({ reasoning: "Two sums.", text: "Let me add.", calls: twoCalls }) },
    { chunks: responsesEvents({ text: "3" }) },
  ]);
  const settings = { providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content"] } } };
  expect(await run(helperOf(fromAiSdk(gpt(server), { settings })))).toMatchObject({ output: "3" });
  const [first, second] = bodies(server);
  expect(first).toMatchObject({ store: false, tools: [{ type: "function", name: "add" }] });
  expect(second?.input.slice(0, first?.input.length)).toEqual(first?.input);
  expect(second?.input.slice(first?.input.length)).toMatchObject([
    { type: "reasoning", encrypted_content: encrypted, summary: [{ type: "summary_text", text: "Two sums." }] },
    { role: "assistant", content: "Let me add." },
    { type: "function_call", call_id: "call_0x", name: "add", arguments: '{"a":1,"b":2}' },
    { type: "function_call", call_id: "call_1x", name: "add", arguments: '{"a":-1,"b":2}' },
    { type: "function_call_output", call_id: "call_0x", output: '{"sum":3}' },
    { type: "function_call_output", call_id: "call_1x" },
  ]);
});

test("openai: where the server keeps replies, they are referred to by its own names", async () => {
  await using server = await openPlayServer([
    { chunks: responsesEvents({ reasoning: "Two sums.", text: "Let me add.", calls: twoCalls }) },
    { chunks: responsesEvents({ text: "3" }) },
  ]);
  expect(await run(helperOf(gpt(server)))).toMatchObject({ output: "3" });
  const ids = bodies(server)[1]
    ?.input.filter(({ type }) => type === "item_reference")
    .map(({ id }) => id);
  expect(ids).toEqual(["rs_1", "msg_1"]); // calls never are, by the rule of the package
});

test("what one provider wanted back does not go to another on the same thread", async () => {
  await using first = await openPlayServer(answers({ reasoning: "Hm.", text: "One.", calls: [] }));
  await using second = await openPlayServer([{ chunks: responsesEvents({ text: "Two." }) }]);
  const one = agent({ name: "one", instructions: "", model: claude(first) });
  const two = agent({ name: "two", instructions: "", model: gpt(second) });
  await using runtime = await createRuntime({ agents: [one, two] });
  await (await runtime.start(one, "First?", { thread: "t" })).output();
  expect(await (await runtime.start(two, "Second?", { thread: "t" })).output()).toBe("Two.");
  const [sent = ""] = second.sent.map(({ body }) => body);
  expect(sent).toContain("One.");
  expect(sent).not.toMatch(/SIGNATURE|Hm\./);
});

const output = z.object({ sum: z.number() });

test("a schema is on the wire: in output_config and text.format where it is native, as a tool where it is not", async () => {
  const native = { structuredOutput: true };
  await using anthropic = await openPlayServer(answers({ text: '{"sum":3}' }));
  const bound = agent({ name: "bound", instructions: "", model: fromAiSdk(claude(anthropic), native), output });
  expect(await run(bound)).toMatchObject({ output: { sum: 3 } });
  expect(JSON.stringify(bodies(anthropic)[0]?.output_config)).toContain('"sum"');

  await using openai = await openPlayServer([{ chunks: responsesEvents({ text: '{"sum":3}' }) }]);
  const strict = agent({ name: "strict", instructions: "", model: fromAiSdk(gpt(openai), native), output });
  expect(await run(strict)).toMatchObject({ output: { sum: 3 } });
  expect(bodies(openai)[0]?.text).toMatchObject({ format: { type: "json_schema", schema: { required: ["sum"] } } });

  const calls = [{ tool: "holdfast_answer", inputText: '{"sum":3}' }];
  await using byTool = await openPlayServer(answers({ calls }));
  const asked = agent({ name: "asked", instructions: "", model: claude(byTool), output });
  expect(await run(asked)).toMatchObject({ output: { sum: 3 } });
  expect(bodies(byTool)[0]?.tools).toMatchObject([{ name: "holdfast_answer", input_schema: { required: ["sum"] } }]);
});

test("images and settings are on the wire", async () => {
  await using server = await openPlayServer(answers({ text: "A cat." }));
  const settings = { temperature: 0.5, headers: { "x-trace": "t1" } };
  const model = fromAiSdk(claude(server), { settings, maxOutputTokens: 321 });
  const viewer = agent({ name: "viewer", instructions: "", model });
  await using runtime = await createRuntime({ agents: [viewer] });
  const image = { type: "image", mediaType: "image/png", url: "data:image/png;base64,AAEC" } as const;
  await (await runtime.start(viewer, [{ type: "text", text: "What is it?" }, image])).output();
  expect(bodies(server)[0]).toMatchObject({
    temperature: 0.5,
    max_tokens: 321,
    messages: [
      {
        content: [
          { type: "text", text: "What is it?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAEC" } },
        ],
      },
    ],
  });
  expect(server.sent[0]?.headers["x-trace"]).toBe("t1");
});

test("a wrong key ends the run at once, and no word of it is told", async () => {
  await using server = await openPlayServer([anthropicPlay({ fails: "model-unauthorized" }, "sk-ant-0123456789")]);
  const result = await run(helperOf(claude(server)));
  expect(result).toMatchObject({ outcome: "failed", error: { code: "model-unauthorized" } });
  expect(JSON.stringify(result)).not.toContain("0123456789");
  expect(server.sent).toHaveLength(1);
});

test("what a provider wants back outlives the process: another one sends it after the approval", async () => {
  const calls = [{ tool: "careful", inputText: "{}" }];
  await using server = await openPlayServer(answers({ reasoning: "Ask first.", calls }, { text: "Done." }));
  const careful = tool({
    name: "careful",
    description: "Asks first",
    input: z.object({}),
    needsApproval: true,
    execute: () => "yes",
  });
  const helper = agent({ name: "helper", instructions: "", model: claude(server), tools: [careful] });
  const folder = mkdtempSync(join(tmpdir(), "holdfast-ai-sdk-"));
  try {
    const open = () => createRuntime({ agents: [helper], store: sqlite(join(folder, "runs.db")) });
    let id = "";
    {
      await using first = await open();
      const started = await first.start(helper, "Go");
      id = started.id;
      await started.idle();
    }
    await using second = await open();
    const [ticket] = await second.tickets.list({ tool: careful, kind: "approval", status: "open" });
    await ticket?.approve({ by: "ana" });
    expect(await second.runs.get(id, helper).output()).toBe("Done.");
    expect(bodies(server)[1]?.messages[1]?.content).toMatchObject([
      { type: "thinking", thinking: "Ask first.", signature },
      { type: "tool_use", id: "toolu_00" },
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const overload = event({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });

test.each([
  ["429 with retry-after", anthropicPlay({ fails: "model-rate-limited", retryAfterMs: 10 })],
  ["529", anthropicPlay({ fails: "model-overloaded" })],
  ["a stream that is cut", { chunks: anthropicEvents({ text: "Half of it" }).slice(0, 5), after: "cut" as const }],
  ["a stream that ends in the middle", { chunks: anthropicEvents({ text: "Half of it" }).slice(0, 5) }],
  ["a call that is cut", { chunks: anthropicEvents({ calls: twoCalls }).slice(0, 6), after: "cut" as const }],
  ["an overload instead of an answer", { chunks: [overload] }],
  [
    "an overload in the middle",
    {
      chunks: [...anthropicEvents({ text: "Half of it" }).slice(0, 5), overload],
    },
  ],
])("anthropic: after %s the call is made again, once, and goes on from what has come", async (what, play) => {
  await using server = await openPlayServer([play, ...answers({ text: "Whole." })]);
  const hadText = ["a stream that is cut", "a stream that ends in the middle", "an overload in the middle"].includes(
    what,
  );
  const output = hadText ? "Half of Whole." : "Whole.";
  expect(await run(helperOf(claude(server)))).toMatchObject({ outcome: "completed", output });
  const [first, second] = bodies(server) as readonly { readonly messages: readonly object[] }[];
  expect(server.sent).toHaveLength(2);
  if (!hadText) return expect(second).toEqual(first);
  expect(second?.messages.slice(0, -2)).toEqual(first?.messages);
  return expect(second?.messages.slice(-2)).toMatchObject([
    { role: "assistant", content: [{ type: "text", text: expect.stringMatching(/^Half of/) }] },
    { role: "user" },
  ]);
});

test.each([
  ["cut", "cut" as const],
  ["ended", "end" as const],
])("openai: after a stream that is %s in the middle the call is made again", async (_, after) => {
  const half = { chunks: responsesEvents({ text: "Half of it", calls: twoCalls }).slice(0, -3), after };
  await using server = await openPlayServer([half, { chunks: responsesEvents({ text: "Whole." }) }]);
  expect(await run(helperOf(gpt(server)))).toMatchObject({ outcome: "completed", output: "Whole." });
  expect(server.sent).toHaveLength(2);
});

test("without a key the error says which variable is missing", async () => {
  const model = createAnthropic({ baseURL: "http://127.0.0.1:9/v1", apiKey: undefined as never })("claude-sonnet-4-5");
  const before = process.env.ANTHROPIC_API_KEY;
  delete process.env.ANTHROPIC_API_KEY;
  try {
    const result = await run(helperOf(model));
    expect(result).toMatchObject({ outcome: "failed", error: { code: "model-unauthorized" } });
    expect(JSON.stringify(result)).toContain("ANTHROPIC_API_KEY");
  } finally {
    if (before !== undefined) process.env.ANTHROPIC_API_KEY = before;
  }
});

test("a server that is not there is a model that could not be reached", async () => {
  const model = createAnthropic({ baseURL: "http://127.0.0.1:9/v1", apiKey: "k" })("claude-sonnet-4-5");
  expect(await run(helperOf(model))).toMatchObject({ outcome: "failed", error: { code: "model-unreachable" } });
});
