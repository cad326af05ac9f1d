/** What a model of the AI SDK is asked: every part of a conversation, tools, output and settings. */
import { expect, test } from "vitest";
import type { CallId } from "../../../src/domain/ids.ts";
import type { Message, Part } from "../../../src/domain/message.ts";
import { fromAiSdk, secret } from "../../../src/index.ts";
import type { ModelRequest } from "../../../src/ports/provider.ts";
import { collect, failureOf, requestWith, said } from "../../../src/testing/conformance/model-fixtures.ts";
import { type Asked, objectModel, type Version, wholeParts } from "./objects.ts";

const hello = said("user", { type: "text", text: "Hello" });

async function asked(
  request: Partial<ModelRequest>,
  { version = "v4" as Version, urls = {}, options = {} } = {},
): Promise<Asked> {
  const model = Object.assign(objectModel(version, [{ parts: wholeParts({ text: "Hi." }) }]), { supportedUrls: urls });
  await collect(fromAiSdk(model, options), requestWith(request));
  return model.asked[0] as Asked;
}

const contentOf = async (message: Message): Promise<unknown> => {
  const { prompt } = await asked({ instructions: "", messages: [hello, message] });
  return prompt.at(-1)?.content;
};

test("instructions come first, and system messages that follow them stay what they are", async () => {
  const first = said("system", { type: "text", text: "Be kind." });
  const { prompt } = await asked({ messages: [first, hello] });
  expect(prompt).toEqual([
    { role: "system", content: "Be brief." },
    { role: "system", content: "Be kind." },
    { role: "user", content: [{ type: "text", text: "Hello" }] },
  ]);
});

test("a system message in the middle is marked text of a user: many providers take none there", async () => {
  const { prompt } = await asked({ messages: [hello, said("system", { type: "text", text: "Mind the gap." })] });
  expect(prompt.at(-1)).toEqual({
    role: "user",
    content: [{ type: "text", text: "<system>\nMind the gap.\n</system>" }],
  });
});

test("what has no words is not sent", async () => {
  const empty = { type: "text", text: "" } as const;
  const { prompt } = await asked({
    instructions: "",
    messages: [said("system", empty), said("user", empty), said("assistant", empty), hello],
  });
  expect(prompt).toHaveLength(1);
});

test("data is told by its name", async () => {
  expect(await contentOf(said("user", { type: "data", name: "order", data: { id: 7 } }))).toEqual([
    { type: "text", text: 'order: {"id":7}' },
  ]);
});

const image = { type: "image", mediaType: "image/png", url: "data:image/png;base64,AAEC" } as const;
const file = { type: "file", mediaType: "text/plain", name: "a.txt", url: "data:text/plain,a%20b" } as const;

test("images and files go as bytes, in the form of each specification", async () => {
  const messages = [said("user", image, file)];
  const v4 = await asked({ instructions: "", messages });
  expect(v4.prompt[0]?.content).toEqual([
    { type: "file", mediaType: "image/png", data: { type: "data", data: "AAEC" } },
    { type: "file", mediaType: "text/plain", filename: "a.txt", data: { type: "data", data: "YSBi" } },
  ]);
  const v3 = await asked({ instructions: "", messages }, { version: "v3" });
  expect(v3.prompt[0]?.content).toEqual([
    { type: "file", mediaType: "image/png", data: "AAEC" },
    { type: "file", mediaType: "text/plain", filename: "a.txt", data: "YSBi" },
  ]);
});

test("an address goes to a provider that fetches it itself, and is refused for every other", async () => {
  const linked = { ...image, url: "https://example.test/a.png" };
  const messages = [said("user", linked)];
  const urls = { "image/*": [/^https:\/\/example\.test\//g] };
  const { prompt } = await asked({ instructions: "", messages }, { urls });
  expect(prompt[0]?.content).toEqual([
    { type: "file", mediaType: "image/png", data: { type: "url", url: new URL(linked.url) } },
  ]);
  const v3 = await asked({ instructions: "", messages }, { urls: Promise.resolve(urls), version: "v3" });
  expect(v3.prompt[0]?.content).toMatchObject([{ data: new URL(linked.url) }]);
  for (const each of [{}, { "audio/*": [/./] }, { "image/png": [/^https:\/\/other/] }]) {
    await expect(asked({ messages }, { urls: each })).rejects.toMatchObject({
      code: "model-refused",
      message: expect.stringContaining("data:image/png;base64"),
    });
  }
});

const own = { "hand.written": { hand: { signature: "s1" } } };
const foreign = { "another.provider": { x: { signature: "s2" } } };

test("what the provider wanted back of text, thoughts and calls goes back as it came; another's does not", async () => {
  const input = { kind: "json", value: { a: 1 } } as const;
  const call = (id: string, metadata: object): Part =>
    ({ type: "tool-call", call: id as CallId, tool: "look", alias: `alias ${id}`, input, metadata }) as Part;
  const content = await contentOf(
    said(
      "assistant",
      { type: "reasoning", text: "Hm.", metadata: own },
      { type: "reasoning", text: "", metadata: own },
      { type: "reasoning", text: "Theirs.", metadata: foreign },
      { type: "reasoning", text: "Nobody's." },
      { type: "text", text: "So.", metadata: { ...own, ...foreign } },
      { type: "text", text: "Plain.", metadata: foreign },
      call("run.1.0", own),
      call("run.1.1", foreign),
    ),
  );
  const options = { providerOptions: { hand: { signature: "s1" } } };
  expect(content).toEqual([
    { type: "reasoning", text: "Hm.", ...options },
    { type: "reasoning", text: "", ...options },
    { type: "text", text: "So.", ...options },
    { type: "text", text: "Plain." },
    { type: "tool-call", toolCallId: "alias run.1.0", toolName: "look", input: { a: 1 }, ...options },
    { type: "tool-call", toolCallId: "call_run_1_1", toolName: "look", input: { a: 1 } },
  ]);
});

test("calls with the same name, or with none, are told apart, and their results know them", async () => {
  const ids = ["run.1.0", "run.1.1", "run.1.2"] as CallId[];
  const aliases = ["same", "same", ""];
  const calls = ids.map((call, at): Part => {
    return { type: "tool-call", call, tool: "look", alias: aliases[at] ?? "", input: { kind: "json", value: {} } };
  });
  const results = ids.map((call) =>
    said("tool", { type: "tool-result", call, tool: "look", result: { kind: "value", value: 1 } }),
  );
  const { prompt } = await asked({ instructions: "", messages: [hello, said("assistant", ...calls), ...results] });
  const names = (at: number): unknown =>
    ((prompt.at(at)?.content ?? []) as { toolCallId: string }[]).map(({ toolCallId }) => toolCallId);
  expect(names(-2)).toEqual(["same", "call_run_1_1", "call_run_1_2"]);
  expect(names(-1)).toEqual(names(-2));
  expect(prompt).toHaveLength(3); // the results are one message
});

test.each([
  [
    { kind: "value", value: "text" },
    { type: "text", value: "text" },
  ],
  [
    { kind: "value", value: { a: [1] } },
    { type: "json", value: { a: [1] } },
  ],
  [
    { kind: "value", value: null },
    { type: "json", value: null },
  ],
  [
    { kind: "value", value: { secret: 1 }, say: "Done." },
    { type: "text", value: "Done." },
  ],
  [
    { kind: "value", value: null, say: "[Shortened]", content: { hash: "0", bytes: 9, mediaType: "text/plain" } },
    { type: "text", value: "[Shortened]" },
  ],
  [
    { kind: "error", code: "denied", message: "no" },
    { type: "error-text", value: "Error (denied): no" },
  ],
] as const)("a result %o is read as %o", async (result, output) => {
  const part = { type: "tool-result", call: "run.1.0" as CallId, tool: "look", result } as const;
  expect(await contentOf(said("tool", part))).toMatchObject([{ output }]);
});

test.each([
  [{ kind: "json", value: { a: 1 } }, { a: 1 }],
  [{ kind: "json", value: [1] }, { rawInvalidInput: [1] }],
  [{ kind: "json", value: null }, { rawInvalidInput: null }],
  [{ kind: "text", text: '{"a":', problem: "no JSON" }, { rawInvalidInput: '{"a":' }],
] as const)("a call's input %o goes back as %o", async (input, sent) => {
  const call = { type: "tool-call", call: "run.1.0" as CallId, tool: "look", input } as const;
  expect(await contentOf(said("assistant", call))).toMatchObject([{ input: sent }]);
});

test("a part that has no place in its message is refused by name", async () => {
  const result = { type: "tool-result", call: "c" as CallId, tool: "t", result: { kind: "value", value: 1 } } as const;
  const thought = { type: "reasoning", text: "x" } as const;
  for (const message of [said("user", thought), said("assistant", result), said("tool", thought)]) {
    await expect(asked({ messages: [message] })).rejects.toMatchObject({ code: "model-refused" });
  }
});

const look = { name: "look", description: "Looks", inputSchema: { type: "object" } };

test("tools, the schema of the answer, its length and the signal are passed on", async () => {
  const schema = { type: "object", properties: { ok: { type: "boolean" } } };
  const options = await asked({ tools: [look], output: { schema }, maxOutputTokens: 77 });
  expect(options).toMatchObject({
    tools: [{ type: "function", ...look }],
    responseFormat: { type: "json", schema },
    maxOutputTokens: 77,
  });
  expect(options.abortSignal).toBeInstanceOf(AbortSignal);
  const bare = await asked({}, { options: { maxOutputTokens: 50 } });
  expect(bare.maxOutputTokens).toBe(50);
  expect(Object.keys(bare).sort()).toEqual(["abortSignal", "maxOutputTokens", "prompt"]);
});

test("settings are merged: those of the model, its headers, and those of one call", async () => {
  const options = {
    headers: { "x-key": secret("hidden-header") },
    settings: { temperature: 0.5, topK: 3, providerOptions: { hand: { a: 1, b: 1 } }, toolChoice: "required" },
  };
  const settings = {
    temperature: 0,
    stopSequences: ["END"],
    reasoning: "high",
    headers: { "x-beta": "1" },
    providerOptions: { hand: { b: 2 }, other: { c: 3 } },
  };
  expect(await asked({ settings, tools: [look] }, { options })).toMatchObject({
    temperature: 0,
    topK: 3,
    stopSequences: ["END"],
    reasoning: "high",
    headers: { "x-key": "hidden-header", "x-beta": "1" },
    providerOptions: { hand: { a: 1, b: 2 }, other: { c: 3 } },
    toolChoice: { type: "required" },
  });
  expect(await asked({}, { options })).not.toHaveProperty("toolChoice"); // there is nothing to choose from
});

test("settings that nobody knows, or that are wrong, are refused before the call, each by its name", async () => {
  const model = objectModel("v3", [{ parts: [] }]);
  const settings = { temprature: 1, topP: "x", toolChoice: "maybe", reasoning: "low", providerOptions: { a: 1 } };
  const { error } = await failureOf(fromAiSdk(model), requestWith({ settings }));
  expect(error.code).toBe("model-refused");
  for (const name of Object.keys(settings)) expect(error.message).toContain(`settings.${name}: `);
  expect(error.message).toContain("v3");
  expect(model.asked).toEqual([]);
});
