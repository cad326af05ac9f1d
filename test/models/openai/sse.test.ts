/** S1 and S2 of the reader of server-sent events. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSseReader, SseTooLong } from "../../../src/providers/shared/sse.ts";
import { dialects, eventsOf } from "./dialects.ts";

const encoder = new TextEncoder();
const splits = Number(process.env["HOLDFAST_SSE_SPLITS"] ?? 10_000);

function read(chunks: Iterable<Uint8Array>, limit = 1_000_000): (string | undefined)[] {
  const reader = createSseReader(limit);
  const events = [...chunks].flatMap((chunk) => [...reader.push(chunk)]);
  return [...events, ...reader.end()].map(({ data }) => data);
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [...at.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  let from = 0;
  return places.map((to) => {
    const chunk = bytes.slice(from, to);
    from = to;
    return chunk;
  });
}

const line = fc.oneof(
  fc.constantFrom(
    "data: x",
    "data:x",
    "data",
    "data: ",
    ": alive",
    ":",
    "event: e",
    "id: 1",
    "retry: 5",
    "",
    "nonsense",
  ),
  fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, "")}`),
);
const stream = fc
  .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\r\r")), { maxLength: 12 })
  .map((lines) => lines.flat().join(""));

test(`S1 ${splits} splits of streams of all kinds give what the whole gives`, { timeout: 600_000 }, () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), (text, at) => {
      const bytes = encoder.encode(text);
      expect(read(cut(bytes, at))).toEqual(read([bytes]));
    }),
    { numRuns: splits },
  );
});

test("S1 every place of a reply in every dialect may be cut, also inside a character", () => {
  const reply = {
    reasoning: "Grüße",
    text: "日本 👩‍👧 né",
    calls: [{ tool: "look", inputText: '{"at":"ü"}' }],
    pieces: 3,
  };
  for (const dialect of Object.values(dialects)) {
    const bytes = encoder.encode(eventsOf(reply, dialect).join(""));
    const whole = read([bytes]);
    for (let place = 0; place <= bytes.length; place += 1) expect(read(cut(bytes, [place]))).toEqual(whole);
    expect(read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
  }
});

const cases: Record<string, readonly [string, readonly (string | undefined)[]]> = {
  "several lines of data are one event": ["data: a\ndata: b\n\n", ["a\nb"]],
  "one space after the colon is not part of it": ["data:  a\n\ndata:b\n\n", [" a", "b"]],
  "a comment is a sign of life": [": hello\n\n", [undefined]],
  "other fields are passed over": ["event: x\nid: 1\nretry: 3\ndata: a\n\n", ["a"]],
  "a field that only begins like data is none": ["database: a\n\n", []],
  "the last event counts without its blank line": ["data: a\n\ndata: b", ["a", "b"]],
  "a byte order mark at the beginning is no text": ["\ufeffdata: a\n\n", ["a"]],
  "empty data is an event": ["data\n\n", [""]],
  "nothing is nothing": ["", []],
  "\\r\\n is one line end": ["data: a\r\ndata: b\r\n\r\n", ["a\nb"]],
};
test.each(Object.entries(cases))("%s", (_what, [text, events]) => {
  expect(read([encoder.encode(text)])).toEqual(events);
});

test("bytes that are no characters are replaced and lose nothing else", () => {
  expect(read([Uint8Array.of(0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0x61, 0x0a, 0x0a)])).toEqual(["\ufffda"]);
});

test("S2 an event that is too long is refused before it is whole, in one line or in many", () => {
  const piece = encoder.encode("x".repeat(1_000));
  expect(() => read([encoder.encode("data: "), ...Array.from({ length: 11 }, () => piece)], 10_000)).toThrow(
    SseTooLong,
  );
  expect(() => read([encoder.encode(`data: ${"y".repeat(500)}\n`.repeat(30))], 10_000)).toThrow(SseTooLong);
  expect(read([encoder.encode(`data: ${"y".repeat(500)}\n\n: z\n`.repeat(300))], 10_000)).toHaveLength(600);
});
