/** Images, files and sound on the wire: whole runs against local servers, with bytes that are kept as content. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  agent,
  asContent,
  createRuntime,
  fromAiSdk,
  type Model,
  type NewPart,
  tellModel,
  tool,
} from "../../src/index.ts";
import { openaiCompatible } from "../../src/openai.ts";
import type { PlayedReply } from "../../src/testing/conformance/model-fixtures.ts";
import { anthropicEvents } from "./ai-sdk/anthropic-wire.ts";
import { objectModel, type Version, wholeParts } from "./ai-sdk/objects.ts";
import { responsesEvents } from "./ai-sdk/responses-wire.ts";
import { type Dialect, dialects, playOf } from "./openai/dialects.ts";
import { openPlayServer, type Play, type PlayServer } from "./openai/play-server.ts";

const bytes = (length: number, first: number): Uint8Array => new Uint8Array(length).fill(first);
const text64 = (body: Uint8Array): string => Buffer.from(body).toString("base64");
const png = bytes(1_200, 137);
const pdf = bytes(1_300, 37);
const wav = bytes(1_400, 82);
const shot = bytes(1_500, 255);

const given: readonly NewPart[] = [
  { type: "text", text: "What is in these?" },
  { type: "image", mediaType: "image/png", body: png },
  { type: "file", mediaType: "application/pdf", body: pdf, name: "a.pdf" },
];
const sound: NewPart = { type: "file", mediaType: "audio/wav", body: wav };

const look = tool({
  name: "look",
  description: "Takes a picture of the screen",
  input: z.object({}),
  effect: "pure",
  execute: () => tellModel("ok", ["The screen:", asContent(shot, { mediaType: "image/png" })]),
});

const replies: readonly PlayedReply[] = [{ calls: [{ tool: "look", inputText: "{}" }] }, { text: "A cat." }];
const description = { accepts: ["text", "image", "file", "audio"] } as const;
const apiKey = "sk-0123456789abcdef";

/** Everything larger than a byte is content. */
async function run(model: Model, input: readonly NewPart[]): Promise<void> {
  const one = agent({ name: "eye", instructions: "", model, tools: [look] });
  await using runtime = await createRuntime({ agents: [one], limits: { inlineBytes: 1 } });
  expect(await (await runtime.start(one, input)).output()).toBe("A cat.");
}

interface Wire {
  readonly play: (reply: PlayedReply) => Play;
  readonly model: (baseURL: string) => Model;
  /** The list of messages in a body. */
  readonly field: "messages" | "input";
}

const chat = (reply: PlayedReply): Play => playOf(reply, dialects.openai as Dialect, apiKey);
const wires: Readonly<Record<"compatible" | "anthropic" | "responses" | "chat", Wire>> = {
  compatible: {
    play: chat,
    model: (baseURL) => openaiCompatible({ baseURL, model: "m", description }),
    field: "messages",
  },
  anthropic: {
    play: (reply) => ({ chunks: anthropicEvents(reply) }),
    model: (baseURL) => fromAiSdk(createAnthropic({ baseURL, apiKey })("claude-sonnet-4-5"), description),
    field: "messages",
  },
  responses: {
    play: (reply) => ({ chunks: responsesEvents(reply) }),
    model: (baseURL) => fromAiSdk(createOpenAI({ baseURL, apiKey })("gpt-5"), description),
    field: "input",
  },
  chat: {
    play: chat,
    model: (baseURL) => fromAiSdk(createOpenAI({ baseURL, apiKey }).chat("gpt-4o"), description),
    field: "messages",
  },
};

async function sentBy(name: keyof typeof wires, input: readonly NewPart[]): Promise<readonly (readonly Sent[])[]> {
  const { play, model, field } = wires[name];
  await using server: PlayServer = await openPlayServer(replies.map(play));
  await run(model(server.baseURL), input);
  return server.sent.map(({ body }) => (JSON.parse(body) as Record<string, readonly Sent[]>)[field] ?? []);
}

interface Sent {
  readonly role: string;
  readonly content: unknown;
}

const users = (messages: readonly Sent[] = []): readonly unknown[] =>
  messages.filter(({ role }) => role === "user").map(({ content }) => content);

const shown = "[Shown by the tool look]";
const imageUrl = (body: Uint8Array): object => ({
  type: "image_url",
  image_url: { url: `data:image/png;base64,${text64(body)}` },
});

test("openai-compatible: an image, a file and sound, and what a tool shows after its result", async () => {
  const [first, second] = await sentBy("compatible", [...given, sound]);
  expect(users(first)).toEqual([
    [
      { type: "text", text: "What is in these?" },
      imageUrl(png),
      { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${text64(pdf)}` } },
      { type: "input_audio", input_audio: { data: text64(wav), format: "wav" } },
    ],
  ]);
  expect(second?.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
  expect(second?.slice(0, 1)).toEqual(first); // the same bytes again
  expect(second?.[2]?.content).toBe(
    "The screen:\n(image (image/png, 1500 bytes))\n[What it shows is in the next message]",
  );
  expect(users(second)[1]).toEqual([{ type: "text", text: shown }, imageUrl(shot)]);
});

test("@ai-sdk/openai, chat completions: the same", async () => {
  const [first, second] = await sentBy("chat", [...given, sound]);
  expect(users(first)).toEqual([
    [
      { type: "text", text: "What is in these?" },
      imageUrl(png),
      { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${text64(pdf)}` } },
      { type: "input_audio", input_audio: { data: text64(wav), format: "wav" } },
    ],
  ]);
  expect(users(second)[1]).toEqual([{ type: "text", text: shown }, imageUrl(shot)]);
  expect(JSON.stringify(second?.filter(({ role }) => role === "tool"))).not.toContain(text64(shot).slice(0, 40));
});

test("@ai-sdk/openai, responses: images and files", async () => {
  const [first, second] = await sentBy("responses", given);
  expect(users(first)).toEqual([
    [
      { type: "input_text", text: "What is in these?" },
      expect.objectContaining({ type: "input_image", image_url: `data:image/png;base64,${text64(png)}` }),
      { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${text64(pdf)}` },
    ],
  ]);
  expect(users(second)[1]).toMatchObject([
    { type: "input_text", text: shown },
    { type: "input_image", image_url: `data:image/png;base64,${text64(shot)}` },
  ]);
});

test("@ai-sdk/anthropic: images and files, and what a tool shows beside its result", async () => {
  const [first, second] = await sentBy("anthropic", given);
  const image = (body: Uint8Array): object => ({
    type: "image",
    source: { type: "base64", media_type: "image/png", data: text64(body) },
  });
  expect(users(first)).toMatchObject([
    [
      { type: "text", text: "What is in these?" },
      image(png),
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: text64(pdf) } },
    ],
  ]);
  expect(users(second)[1]).toMatchObject([{ type: "tool_result" }, { type: "text", text: shown }, image(shot)]);
});

test.each(["v3", "v4"] as const)(
  "an object of %s gets the bytes, and its own file back with its mark",
  async (version) => {
    const data = version === "v3" ? text64(shot) : { type: "data", data: text64(shot) };
    const made = { type: "file", mediaType: "image/png", data, providerMetadata: { "hand.written": { mark: "m" } } };
    const [start, ...rest] = parts({ calls: [{ tool: "look", inputText: "{}" }] }, version);
    const model = objectModel(version, [
      { parts: [start, made, ...rest] },
      { parts: parts({ text: "A cat." }, version) },
    ]);
    await run(fromAiSdk(model), given);
    const [first, second] = model.asked.map(({ prompt }) => prompt);
    const file = (body: Uint8Array): unknown =>
      version === "v3" ? text64(body) : { type: "data", data: text64(body) };
    expect(first?.[0]?.content).toMatchObject([
      { type: "text" },
      { type: "file", mediaType: "image/png", data: file(png) },
      { type: "file", mediaType: "application/pdf", filename: "a.pdf", data: file(pdf) },
    ]);
    expect(second?.[1]?.content).toMatchObject([
      { type: "file", mediaType: "image/png", data: file(shot), providerOptions: { "hand.written": { mark: "m" } } },
      { type: "tool-call" },
    ]);
  },
);

function parts(reply: PlayedReply, version: Version): readonly unknown[] {
  return wholeParts(reply, version);
}

test("openai-compatible: images that a gateway's model makes are kept, and named in the next request", async () => {
  const file = { mediaType: "image/png", url: `data:image/png;base64,${text64(shot)}` };
  const [asking, done] = replies;
  await using server = await openPlayServer([chat({ ...asking, files: [file] }), chat(done ?? {})]);
  await run(openaiCompatible({ baseURL: server.baseURL, model: "m", description }), given);
  const messages = (JSON.parse(server.sent[1]?.body ?? "{}") as { messages: readonly Sent[] }).messages;
  expect(messages[1]).toMatchObject({
    role: "assistant",
    content: "[Not shown: image (image/png, 1500 bytes), which was part of this reply]",
  });
});
