import { expect, test } from "vitest";
import { contentResult } from "../../domain/content.ts";
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

test("an answer that is one file is content; any other is not", () => {
  const image = { type: "image", data: "AAECAw==", mimeType: "image/png" };
  const file = contentResult(readOutcome({ content: [image] }, reading));
  expect([...((file?.body as Uint8Array) ?? [])]).toEqual([0, 1, 2, 3]);
  expect(file).toMatchObject({ mediaType: "image/png", say: "(image image/png, 4 bytes, not shown)" });
  const blob = { type: "resource", resource: { uri: "a://b", blob: "AAAA", mimeType: "not a type" } };
  expect(readOutcome({ content: [blob] }, reading)).toMatchObject({ mediaType: "application/octet-stream" });
  for (const answer of [
    { content: [image, image] },
    { content: [image], isError: true },
    { content: [image], structuredContent: {} },
    { content: [{ type: "text", text: "x" }] },
    { content: [] },
  ])
    expect(contentResult(readOutcome(answer, reading))).toBeUndefined();
});

test("nothing at all is an empty result", () => {
  for (const answer of [undefined, null, {}, { content: "x" }])
    expect(read(answer)).toEqual({ value: { content: [] }, say: "" });
});
