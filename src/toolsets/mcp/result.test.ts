import { expect, test } from "vitest";
import { contentResult } from "../../domain/content.ts";
import type { ToldResult } from "../../domain/tool.ts";
import { type McpResult, readOutcome, readResult } from "./result.ts";

const reading = { maxBytes: 4_096, clean: (text: string) => text.replaceAll("hidden-key", "[secret]") };

function read(answer: unknown): { value: McpResult; say: string } {
  const { value, say } = readResult(answer, reading);
  return { value, say: String(say) };
}

test("each kind of part has its shape and its words", () => {
  const content = [
    { type: "text", text: "one \ud800" },
    { type: "audio", data: "AAAA", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "a://b", text: "two", mimeType: "text/plain" } },
    { type: "resource", resource: { uri: "a://c", blob: "AAAA" } },
    { type: "resource_link", uri: "a://d", name: "d" },
    { type: "hologram" },
    null,
  ];
  const { value, say } = read({ content });
  expect(value.content).toEqual([
    { type: "text", text: "one \ufffd" },
    { type: "audio", mediaType: "audio/wav", base64: "AAAA" },
    { type: "resource", uri: "a://b", mediaType: "text/plain", text: "two" },
    { type: "resource", uri: "a://c", base64: "AAAA" },
    { type: "link", uri: "a://d", name: "d" },
    { type: "left-out", what: "a part of an unknown kind", bytes: 0 },
    { type: "left-out", what: "a part of an unknown kind", bytes: 0 },
  ]);
  expect(say.split("\n")).toEqual([
    "one \ufffd",
    "(audio audio/wav, 3 bytes, not shown)",
    "(resource a://b)",
    "two",
    "(resource a://c, 3 bytes, not shown)",
    "(resource d at a://d)",
    "(left out: a part of an unknown kind)",
    "(left out: a part of an unknown kind)",
  ]);
});

test("structured data is kept, and said where there are no texts", () => {
  expect(read({ content: [], structuredContent: { a: 1 } })).toEqual({
    value: { content: [], structured: { a: 1 } },
    say: '{"a":1}',
  });
  expect(read({ content: [{ type: "text", text: "x" }], structuredContent: { a: 1 } }).say).toBe("x");
  expect(read({ structuredContent: { a: "y".repeat(9_000) } }).value.content).toEqual([
    { type: "left-out", what: expect.stringContaining("structured data"), bytes: 0 },
  ]);
});

test("what does not fit is cut or left out, and everything together stays within the limit", () => {
  const content = Array.from({ length: 20 }, () => [
    { type: "text", text: "\u0001".repeat(700) },
    { type: "image", data: "A".repeat(700), mimeType: "image/png" },
  ]).flat();
  const { value } = read({ content });
  expect(value.content.filter(({ type }) => type === "left-out").length).toBeGreaterThan(30);
  expect(JSON.stringify(value).length).toBeLessThan(reading.maxBytes + 40 * 80);
});

test.each([
  ["x", 3_600],
  ["é", 1_800],
  ["\u0001", 600],
])("a text is cut to what the limit has room for: %j", (letter, least) => {
  const { value } = read({ content: [{ type: "text", text: letter.repeat(100_000) }] });
  expect(JSON.stringify(value).split(JSON.stringify(letter).slice(1, -1)).length).toBeGreaterThan(least);
  expect(Buffer.byteLength(JSON.stringify(value))).toBeLessThanOrEqual(reading.maxBytes);
});

test("of very many parts only the first are looked at", () => {
  const { value } = read({ content: Array.from({ length: 100_000 }, () => ({ type: "text", text: "" })) });
  expect(value.content.length).toBeLessThanOrEqual(201);
  expect(value.content.at(-1)).toEqual({ type: "left-out", what: "99800 more parts", bytes: 0 });
});

test("secrets are taken out, also of keys and of what is structured", () => {
  const text = JSON.stringify(
    read({ content: [{ type: "text", text: "a hidden-key" }], structuredContent: { "hidden-key": ["hidden-key"] } }),
  );
  expect(text).not.toContain("hidden-key");
});

const image = { type: "image", data: "AAECAw==", mimeType: "image/png" };
const hash = "054edec1d0211f624fed0cbca9d4f9400b0e491c43742af2c5b0abebf0c990d8";

test("an answer that is one file is content, and shown", () => {
  const outcome = readOutcome({ content: [image] }, reading) as ToldResult<unknown>;
  const file = contentResult(outcome.value);
  expect([...((file?.body as Uint8Array) ?? [])]).toEqual([0, 1, 2, 3]);
  expect(file).toMatchObject({ mediaType: "image/png", say: "(image image/png, 4 bytes)" });
  expect(outcome.say).toEqual([file]);
  const blob = { type: "resource", resource: { uri: "a://b", blob: "AAAA", mimeType: "not a type" } };
  expect(readOutcome({ content: [blob] }, reading)).toMatchObject({ value: { mediaType: "application/octet-stream" } });
});

test("files among other parts are content of the result, and shown in their places", () => {
  const blob = { type: "resource", resource: { uri: "a://b", blob: "AAAA", mimeType: "application/pdf" } };
  const { value, say } = readOutcome(
    { content: [{ type: "text", text: "Look:" }, image, blob], isError: true },
    reading,
  ) as ToldResult<McpResult>;
  expect(value).toEqual({
    content: [
      { type: "text", text: "Look:" },
      { type: "image", mediaType: "image/png", content: { hash, bytes: 4, mediaType: "image/png" } },
      {
        type: "resource",
        uri: "a://b",
        mediaType: "application/pdf",
        content: { hash: expect.any(String), bytes: 3, mediaType: "application/pdf" },
      },
    ],
    isError: true,
  });
  expect(say).toMatchObject([
    "The tool reports an error: Look:",
    { mediaType: "image/png", say: "(image image/png, 4 bytes)" },
    { mediaType: "application/pdf", say: "(resource a://b, 3 bytes)" },
  ]);
});

test("more files than an answer may have are left out, and the rest of it stays", () => {
  const large = { type: "image", data: "A".repeat(12_000_000), mimeType: "image/png" };
  const { value, say } = readOutcome(
    { content: [large, large, { type: "text", text: "Done" }] },
    reading,
  ) as ToldResult<McpResult>;
  expect(value.content.map(({ type }) => type)).toEqual(["image", "left-out", "text"]);
  expect((say as readonly unknown[]).slice(1)).toEqual(["(left out: image, 9000000 bytes)", "Done"]);
});

test("an answer without bytes is words", () => {
  for (const content of [[{ type: "text", text: "x" }], [], [{ type: "text", text: "x" }, { type: "image" }]]) {
    const outcome = readOutcome({ content }, reading) as ToldResult<unknown>;
    expect(typeof outcome.say).toBe("string");
  }
});

test("nothing at all is an empty result", () => {
  for (const answer of [undefined, null, {}, { content: "x" }])
    expect(read(answer)).toEqual({ value: { content: [] }, say: "" });
});
