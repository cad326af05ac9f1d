/** What goes over the wire: the body and the headers of a request, as a real server receives them. */
import { expect, test } from "vitest";
import type { CallId } from "../../../src/domain/ids.ts";
import type { Message, Part } from "../../../src/domain/message.ts";
import { secret } from "../../../src/domain/secret.ts";
import { type OpenAiCompatibleOptions, openaiCompatible } from "../../../src/openai.ts";
import type { ModelRequest } from "../../../src/ports/provider.ts";
import { collect, requestWith, said } from "../../../src/testing/conformance/model-fixtures.ts";
import { type Dialect, dialects, eventsOf } from "./dialects.ts";
import { openPlayServer } from "./play-server.ts";

const answer = { chunks: eventsOf({ text: "Hi." }, dialects["openai"] as Dialect) };

async function send(request: Partial<ModelRequest>, options: Partial<OpenAiCompatibleOptions> = {}) {
  await using server = await openPlayServer([answer]);
  const { baseURL } = server;
  await collect(openaiCompatible({ baseURL, model: "m", ...options }), requestWith(request));
  const [sent] = server.sent;
  return { path: sent?.path, headers: sent?.headers ?? {}, body: JSON.parse(sent?.body ?? "null") };
}

test("a plain request has what every server reads, and nothing else", async () => {
  const { path, headers, body } = await send({});
  expect(path).toBe("/v1/chat/completions");
  expect(headers).toMatchObject({ "content-type": "application/json", accept: "text/event-stream" });
  expect(headers).not.toHaveProperty("authorization");
  expect(body).toEqual({
    model: "m",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ],
    stream: true,
    stream_options: { include_usage: true },
  });
});

test("keys and headers are sent, from secrets and functions too", async () => {
  const plain = await send({}, { apiKey: "k1" });
  expect(plain.headers["authorization"]).toBe("Bearer k1");
  const hidden = await send({}, { apiKey: secret("k2"), headers: { "x-team": "blue", "api-key": secret("k3") } });
  expect(hidden.headers).toMatchObject({ authorization: "Bearer k2", "x-team": "blue", "api-key": "k3" });
  const asked = await send({}, { apiKey: async () => secret("k4") });
  expect(asked.headers["authorization"]).toBe("Bearer k4");
});

test("the query of the base URL stays, and a slash at its end does no harm", async () => {
  await using server = await openPlayServer([answer]);
  const model = openaiCompatible({ baseURL: `${server.baseURL}/?api-version=7`, model: "m" });
  await collect(model);
  expect(server.sent[0]?.path).toBe("/v1/chat/completions?api-version=7");
});

test("tools are functions with their JSON Schema", async () => {
  const inputSchema = { type: "object", properties: { at: { type: "string" } } };
  const { body } = await send({ tools: [{ name: "look", description: "Looks", inputSchema }] });
  expect(body.tools).toEqual([
    { type: "function", function: { name: "look", description: "Looks", parameters: inputSchema } },
  ]);
});

test("images go by address and as data, files and sound as data", async () => {
  const png = "data:image/png;base64,iVBORw0KGgo=";
  const message = said(
    "user",
    { type: "text", text: "What is this?" },
    { type: "image", mediaType: "image/jpeg", url: "https://pictures.example/cat.jpg" },
    { type: "image", mediaType: "image/png", url: png },
    { type: "file", mediaType: "application/pdf", url: "data:application/pdf;base64,JVBE", name: "a.pdf" },
    { type: "file", mediaType: "audio/mpeg", url: "data:audio/mpeg;base64,SUQz" },
    { type: "data", name: "place", data: { x: 1 } },
  );
  const { body } = await send({ messages: [message] });
  expect(body.messages[1].content).toEqual([
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: "https://pictures.example/cat.jpg" } },
    { type: "image_url", image_url: { url: png } },
    { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBE" } },
    { type: "input_audio", input_audio: { data: "SUQz", format: "mp3" } },
    { type: "text", text: 'place: {"x":1}' },
  ]);
});

test("a file that is an image goes by its address", async () => {
  const file = { type: "file", mediaType: "image/png", url: "https://files.example/a.png" } as const;
  await using server = await openPlayServer([answer]);
  const model = openaiCompatible({ baseURL: server.baseURL, model: "m" });
  await collect(model, requestWith({ messages: [said("user", file)] }));
  const { messages } = JSON.parse(server.sent[0]?.body ?? "{}");
  expect(messages.at(-1).content).toEqual([{ type: "image_url", image_url: { url: file.url } }]);
});

test("a file that is only an address is refused before anything is sent", async () => {
  const file = { type: "file", mediaType: "application/pdf", url: "https://files.example/a.pdf" } as const;
  await using server = await openPlayServer([answer]);
  const model = openaiCompatible({ baseURL: server.baseURL, model: "m" });
  const call = collect(model, requestWith({ messages: [said("user", file)] }));
  await expect(call).rejects.toMatchObject({ code: "model-refused", retry: "never" });
  expect(server.sent).toEqual([]);
});

const open = { type: "object", properties: { city: { type: "string" } } };
const closed = { ...open, required: ["city"], additionalProperties: false };

test("an answer is bound to its schema where the model can be, strictly where servers can", async () => {
  const description = { structuredOutput: true };
  const strict = await send({ output: { schema: closed } }, { description });
  expect(strict.body.response_format).toEqual({
    type: "json_schema",
    json_schema: { name: "output", schema: closed, strict: true },
  });
  const loose = await send({ output: { schema: open } }, { description });
  expect(loose.body.response_format.json_schema.strict).toBe(false);
  const nested = { ...closed, properties: { city: open } };
  const inner = await send({ output: { schema: nested } }, { description });
  expect(inner.body.response_format.json_schema.strict).toBe(false);
  const words = await send({ output: { schema: closed } });
  expect(words.body).not.toHaveProperty("response_format");
});

test("the longest answer has the name that the server wants", async () => {
  expect((await send({ maxOutputTokens: 9 })).body).toMatchObject({ max_tokens: 9 });
  const newer = await send({ maxOutputTokens: 9 }, { maxTokensField: "max_completion_tokens" });
  expect(newer.body).toMatchObject({ max_completion_tokens: 9 });
  expect(newer.body).not.toHaveProperty("max_tokens");
  const described = await send({}, { description: { maxOutputTokens: 77 } });
  expect(described.body).toMatchObject({ max_tokens: 77 });
});

test("settings of the model and of the call are sent, the call's first", async () => {
  const settings = { temperature: 0.5, seed: 1 };
  const { body } = await send({ settings: { temperature: 0 } }, { settings, countTokens: false });
  expect(body).toMatchObject({ temperature: 0, seed: 1 });
  expect(body).not.toHaveProperty("stream_options");
});

test("a setting that the request itself decides is refused", async () => {
  await expect(send({ settings: { messages: [] } })).rejects.toMatchObject({ code: "model-refused" });
  expect(() => openaiCompatible({ baseURL: "http://h/v1", model: "m", settings: { stream: false } })).toThrow(
    "settings.stream: is decided by each request",
  );
});

function callPart(id: string, alias: string): Message {
  const call = id as CallId;
  return said("assistant", { type: "tool-call", call, tool: "look", input: { kind: "json", value: {} }, alias });
}
function resultPart(id: string): Message {
  const result = { kind: "value", value: "seen", say: "I saw it" } as const;
  return said("tool", { type: "tool-result", call: id as CallId, tool: "look", result });
}

test("calls and results stay paired where servers gave no id, one twice or one that is too long", async () => {
  const long = "x".repeat(80);
  const ids = ["0192ab-cd.1.0", "0192ab-cd.2.0", "0192ab-cd.3.0", "0192ab-cd.4.0"];
  const messages = ["", "same", "same", long].flatMap((alias, at) => [
    callPart(ids[at] as string, alias),
    resultPart(ids[at] as string),
  ]);
  const { body } = await send({ messages });
  const names: string[] = body.messages.slice(1).map((m: { tool_calls?: { id: string }[]; tool_call_id?: string }) => {
    return m.tool_call_id ?? m.tool_calls?.[0]?.id;
  });
  for (let at = 0; at < 8; at += 2) expect(names[at]).toBe(names[at + 1]);
  expect(new Set(names).size).toBe(4);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
  expect(names[2]).toBe("same");
  expect(body.messages[2]).toMatchObject({ role: "tool", content: "I saw it" });
});

test("input that was no JSON goes back as JSON that says so", async () => {
  const call = said("assistant", {
    type: "tool-call",
    call: "r.1.0" as CallId,
    tool: "look",
    input: { kind: "text", text: '{"a":', problem: "cut" },
    alias: "a",
  });
  const { body } = await send({ messages: [call] });
  expect(JSON.parse(body.messages[1].tool_calls[0].function.arguments)).toEqual({ unreadable: '{"a":' });
  expect(body.messages[1].content).toBeNull();
});

test("reasoning goes back by the name it came by, signatures and all, unless it is to stay", async () => {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const details = [{ type: "reasoning.text", index: 0, text: "ab", signature: "sig" }];
  const extra = { google: { thought_signature: "th" } };
  const code = { name: "look", arguments: "{}" };
  const first = {
    chunks: [
      chunk({ reasoning: "a", reasoning_details: [{ type: "reasoning.text", index: 0, text: "a" }] }),
      chunk({ reasoning: "b", reasoning_details: [{ type: "reasoning.text", index: 0, text: "b" }] }),
      chunk({ reasoning_details: [{ type: "reasoning.text", index: 0, signature: "sig" }] }),
      chunk({ tool_calls: [{ index: 0, id: "c1", function: code, extra_content: extra }] }),
      chunk({}, "tool_calls"),
    ],
  };
  await using server = await openPlayServer([first, answer]);
  const model = openaiCompatible({ baseURL: server.baseURL, model: "m", name: "router" });
  const parts = await collect(model);
  const back = said(
    "assistant",
    ...parts.flatMap((part): readonly Part[] => {
      if (part.type === "reasoning-delta") return [{ ...part, type: "reasoning" as const }];
      if (part.type !== "tool-call") return [];
      const { alias, tool, metadata } = part;
      const input = { kind: "json", value: {} } as const;
      return [
        { type: "tool-call" as const, call: "r.1.0" as CallId, tool, alias, input, ...(metadata ? { metadata } : {}) },
      ];
    }),
  );
  await collect(model, requestWith({ messages: [back] }));
  const body = JSON.parse(server.sent[1]?.body ?? "null");
  expect(body.messages[1]).toMatchObject({
    role: "assistant",
    reasoning: "ab",
    reasoning_details: details,
    tool_calls: [{ id: "c1", extra_content: extra }],
  });
  const silent = await send({ messages: [back] }, { name: "router", returnReasoning: false });
  expect(silent.body.messages[1]).not.toHaveProperty("reasoning");
  const other = await send({ messages: [back] }, { name: "another" });
  expect(JSON.stringify(other.body)).not.toMatch(/reasoning|sig|thought/);
});
