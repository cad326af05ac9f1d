/** What a model of the AI SDK streams, part by part, and what becomes of it. */
import { expect, test } from "vitest";
import type { RunId } from "../../../src/domain/ids.ts";
import type { Part } from "../../../src/domain/message.ts";
import { openAssembly } from "../../../src/engine/assemble-reply.ts";
import { defaultLimits } from "../../../src/engine/limits.ts";
import { openReplyFiles } from "../../../src/engine/reply-files.ts";
import { fromAiSdk } from "../../../src/index.ts";
import { nodeHash } from "../../../src/platform/node-hash.ts";
import { collect, failureOf, requestWith, said } from "../../../src/testing/conformance/model-fixtures.ts";
import { objectModel } from "./objects.ts";

const shelf = { hash: nodeHash, limits: defaultLimits };
const finish = {
  type: "finish",
  finishReason: { unified: "stop", raw: "end" },
  usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
};

const played = (...parts: readonly unknown[]) => fromAiSdk(objectModel("v4", [{ parts: [...parts, finish] }]));

/** The parts of the message that the engine makes of it. */
async function messageOf(...parts: readonly unknown[]): Promise<readonly unknown[]> {
  const assembly = openAssembly({ run: "run" as RunId, step: 1 }, openReplyFiles(shelf));
  for (const part of await collect(played(...parts))) expect(assembly.add(part)).toBeUndefined();
  return assembly.end()?.parts ?? [];
}

const kept = (metadata: object): object => ({ metadata: { "hand.written": metadata } });

test("blocks are parts of their own, and the last of what a provider wants back counts", async () => {
  const parts = await messageOf(
    { type: "reasoning-start", id: "1", providerMetadata: { hand: { item: 1, encrypted: null } } },
    { type: "reasoning-delta", id: "1", delta: "Hm" },
    { type: "reasoning-delta", id: "1", delta: ".", providerMetadata: { hand: { item: 1, encrypted: "e" } } },
    { type: "reasoning-end", id: "1" },
    { type: "reasoning-start", id: "2", providerMetadata: { hand: { redacted: "r" } } },
    { type: "reasoning-end", id: "2" },
    { type: "text-start", id: "1", providerMetadata: { hand: { item: 2 } } },
    { type: "text-delta", id: "1", delta: "Yes." },
    { type: "text-end", id: "1", providerMetadata: { hand: { item: 2, seen: ["a"] } } },
    { type: "text-start", id: "2" },
    { type: "text-delta", id: "2", delta: "No." },
    { type: "text-end", id: "2" },
  );
  expect(parts).toEqual([
    { type: "reasoning", text: "Hm.", ...kept({ hand: { item: 1, encrypted: "e" } }) },
    { type: "reasoning", text: "", ...kept({ hand: { redacted: "r" } }) },
    { type: "text", text: "Yes.", ...kept({ hand: { item: 2, seen: ["a"] } }) },
    { type: "text", text: "No." },
  ]);
});

test("blocks that are written at the same time do not mix, and calls keep their place among them", async () => {
  const parts = await messageOf(
    { type: "text-start", id: "a" },
    { type: "text-delta", id: "a", delta: "A1" },
    { type: "text-start", id: "b" },
    { type: "text-delta", id: "b", delta: "B1" },
    { type: "tool-input-start", id: "c1", toolName: "first" },
    { type: "tool-input-start", id: "c2", toolName: "second" },
    { type: "tool-call", toolCallId: "c2", toolName: "second", input: "{}" },
    { type: "text-delta", id: "a", delta: "A2" },
    { type: "tool-call", toolCallId: "c1", toolName: "first", input: "" },
    { type: "text-delta", id: "b", delta: "B2" },
    { type: "text-end", id: "a" },
    { type: "text-end", id: "b" },
    { type: "text-delta", id: "c", delta: "without a start" },
  );
  const texts = (parts as { text?: string; tool?: string }[]).map(({ text, tool }) => text ?? tool);
  expect(texts).toEqual(["A1A2", "B1B2", "first", "second", "without a start"]);
});

test("every part that comes is a sign of life, also one that has to wait for its turn", async () => {
  const parts = [
    { type: "text-start", id: "a" },
    { type: "text-start", id: "b" },
    { type: "text-delta", id: "b", delta: "held" },
  ];
  const { before } = await failureOf(fromAiSdk(objectModel("v4", [{ parts }])));
  expect(before).toEqual([{ type: "ping" }, { type: "ping" }, { type: "ping" }]);
});

test("input of calls is told as it comes, by the index of the call; what never became a call is not one", async () => {
  const parts = await collect(
    played(
      { type: "tool-input-start", id: "c1", toolName: "first" },
      { type: "tool-input-start", id: "c2", toolName: "second" },
      { type: "tool-input-delta", id: "c2", delta: '{"a"' },
      { type: "tool-input-delta", id: "c1", delta: "{" },
      { type: "tool-input-delta", id: "nobody", delta: "x" },
      { type: "tool-input-end", id: "c2" },
      { type: "tool-call", toolCallId: "c2", toolName: "second", input: '{"a":1}' },
    ),
  );
  const deltas = parts.filter((part) => part.type === "tool-input-delta");
  expect(deltas.map(({ index, text }) => [index, text])).toEqual([
    [0, ""],
    [1, ""],
    [1, '{"a"'],
    [0, "{"],
  ]);
  expect(parts.filter(({ type }) => type === "tool-call")).toHaveLength(1);
  expect(parts.at(-1)).toMatchObject({ reason: "tool-calls" });
});

test("two calls of one id are two calls", async () => {
  const call = { type: "tool-call", toolCallId: "c", toolName: "look", input: "{}" };
  expect(await messageOf(call, call)).toHaveLength(2);
});

test("what only the provider can read is kept and goes back to it, in its place", async () => {
  const custom = { type: "custom", kind: "hand.compaction", providerMetadata: { hand: { blob: "b" } } };
  const model = objectModel("v4", [{ parts: [custom, finish] }]);
  const assembly = openAssembly({ run: "run" as RunId, step: 1 }, openReplyFiles(shelf));
  for (const part of await collect(fromAiSdk(model))) assembly.add(part);
  const reply = assembly.end() as { parts: readonly Part[] };
  await collect(fromAiSdk(model), requestWith({ messages: [said("assistant", ...reply.parts)] }));
  expect(model.asked[1]?.prompt.at(-1)?.content).toEqual([
    { type: "custom", kind: "hand.compaction", providerOptions: { hand: { blob: "b" } } },
  ]);
  const older = objectModel("v3", [{ parts: [finish] }]);
  await collect(fromAiSdk(older), requestWith({ messages: [said("assistant", ...reply.parts)] }));
  expect(older.asked[0]?.prompt).toHaveLength(1); // specification v3 has no word for it
});

test.each([
  [{ type: "stream-start", warnings: [] }],
  [{ type: "response-metadata", id: "r" }],
  [{ type: "source", sourceType: "url", id: "s", url: "https://example.test" }],
  [{ type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: "AA" } }],
  [{ type: "raw", rawValue: {} }],
  [{ type: "ping" }],
  [{ type: "tool-input-end", id: "c" }],
  [{ type: "text-start", id: "t" }],
  [{ type: "text-end", id: "t" }],
])("%o is no part of the answer, but a sign of life", async (part) => {
  const parts = await collect(played(part));
  expect(parts.map(({ type }) => type)).toEqual(["ping", "finish"]);
});

test("what nobody knows yet is left out and said once", async () => {
  const warnings: string[] = [];
  const model = objectModel("v4", [{ parts: [{ type: "hologram" }, { type: "hologram" }, finish] }]);
  const ours = fromAiSdk(model, { onWarning: (warning) => warnings.push(warning) });
  await collect(ours);
  await collect(ours);
  expect(warnings).toEqual(["hand.written/m: it sent a part of the unknown type hologram, which is not kept"]);
});

test("what the provider could not do is said once, and a listener that throws costs nothing", async () => {
  const warnings: string[] = [];
  const list = [
    { type: "unsupported", feature: "topK", details: "not for this model" },
    { type: "other", message: "careful" },
    { type: "deprecated", setting: "seed", message: "gone soon" },
    null,
  ];
  const parts = [{ type: "stream-start", warnings: list }, finish];
  const ours = fromAiSdk(objectModel("v4", [{ parts }]), {
    onWarning: (warning) => {
      warnings.push(warning.replace("hand.written/m: ", ""));
      throw new Error("deaf");
    },
  });
  await collect(ours);
  await collect(ours);
  expect(warnings).toEqual([
    "unsupported: topK: not for this model",
    "other: careful",
    "deprecated: seed: gone soon",
    "a warning without words",
  ]);
});

test("without a listener a warning is one of the process", async () => {
  const heard = new Promise<Error>((hear) => process.once("warning", hear));
  const warnings = [{ type: "other", message: "careful" }];
  await collect(fromAiSdk(objectModel("v4", [{ parts: [{ type: "stream-start", warnings }, finish] }])));
  expect(await heard).toMatchObject({ name: "HoldfastWarning", message: "hand.written/m: other: careful" });
});

test.each([
  { type: "tool-call", toolCallId: "c", toolName: "web_search", input: "{}", providerExecuted: true },
  { type: "tool-input-start", id: "c", toolName: "web_search", providerExecuted: true },
  { type: "tool-result", toolCallId: "c", toolName: "web_search", result: {} },
  { type: "tool-approval-request", approvalId: "a", toolCallId: "c" },
])("R1: a tool that the provider runs itself refuses the reply ($type)", async (part) => {
  const { error, before } = await failureOf(played(part));
  expect(error).toMatchObject({ code: "model-refused", retry: "never" });
  expect(error.message).toMatch(/runs (the tool web_search|a tool) itself/);
  expect(before.filter(({ type }) => type === "tool-call")).toEqual([]);
});

test.each([
  ["v3: base64", "v3", "AAEC"],
  ["v3: bytes", "v3", Uint8Array.from([0, 1, 2])],
  ["v4: base64", "v4", { type: "data", data: "AAEC" }],
  ["v4: bytes", "v4", { type: "data", data: Uint8Array.from([0, 1, 2]) }],
] as const)(
  "a file that the model made keeps its bytes and what the provider wants back (%s)",
  async (_, version, data) => {
    const file = { type: "file", mediaType: "image/png", data, providerMetadata: { "hand.written": { thought: "x" } } };
    const model = fromAiSdk(objectModel(version, [{ parts: [file, finish] }]));
    expect((await collect(model)).filter(({ type }) => type === "file")).toEqual([
      {
        type: "file",
        mediaType: "image/png",
        url: "data:image/png;base64,AAEC",
        ...kept({ "hand.written": { thought: "x" } }),
      },
    ]);
  },
);

test("a file at an address keeps the address, and one without bytes breaks the protocol", async () => {
  const url = new URL("https://files.example/a.png");
  const linked = played({ type: "file", mediaType: "image/png", data: { type: "url", url } });
  expect(await collect(linked)).toContainEqual({ type: "file", mediaType: "image/png", url: url.href, ...kept({}) });
  const { error } = await failureOf(played({ type: "file", mediaType: "image/png", data: { type: "data" } }));
  expect(error.code).toBe("model-malformed");
});

const reasons: readonly (readonly [unknown, string])[] = [
  [{ unified: "stop", raw: "end_turn" }, "stop"],
  [{ unified: "stop", raw: undefined }, "stop"],
  [{ unified: "length", raw: "max" }, "length"],
  [{ unified: "content-filter", raw: "refusal" }, "content-filter"],
  [{ unified: "tool-calls", raw: "tool_use" }, "tool-calls"],
  [{ unified: "other", raw: "gone_fishing" }, "other"],
  [{ unified: "a word of tomorrow", raw: "x" }, "other"],
];

test.each(reasons)("the finish reason %o is %s", async (finishReason, reason) => {
  const model = fromAiSdk(objectModel("v3", [{ parts: [{ type: "finish", finishReason, usage: {} }] }]));
  expect((await collect(model)).at(-1)).toEqual({ type: "finish", reason });
});

test.each([
  [{ unified: "error", raw: "error" }],
  [{ unified: "interrupted", raw: undefined }],
  [{ unified: "other", raw: undefined }],
  ["stop"],
  [undefined],
])("a reply that ends by %o is not whole, and is asked for again", async (finishReason) => {
  const model = fromAiSdk(objectModel("v4", [{ parts: [{ type: "finish", finishReason, usage: {} }] }]));
  const { error } = await failureOf(model);
  expect(error.retry).toBe("later");
});

test("every count has its place, and what is missing or wrong is unknown", async () => {
  const counted = async (usage: unknown): Promise<unknown> => {
    const model = fromAiSdk(objectModel("v4", [{ parts: [{ ...finish, usage }] }]));
    return ((await collect(model)).at(-1) as { usage?: unknown }).usage;
  };
  const inputTokens = { total: 10, noCache: 3, cacheRead: 5, cacheWrite: 2 };
  expect(await counted({ inputTokens, outputTokens: { total: 7, text: 3, reasoning: 4 } })).toEqual({
    inputTokens: 10,
    outputTokens: 7,
    cacheReadTokens: 5,
    cacheWriteTokens: 2,
    reasoningTokens: 4,
  });
  expect(await counted({ inputTokens: { total: 1, cacheRead: -1 }, outputTokens: { total: 2 } })).toEqual({
    inputTokens: 1,
    outputTokens: 2,
  });
  for (const usage of [
    undefined,
    null,
    {},
    { inputTokens: 1, outputTokens: 1 },
    { inputTokens: { total: Number.NaN } },
  ]) {
    expect(await counted(usage)).toBeUndefined();
  }
});
