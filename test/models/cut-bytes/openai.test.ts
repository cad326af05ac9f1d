/** Y1–Y3 by bytes: chat completions, cut in each way. */
import { expect, test } from "vitest";
import { openaiCompatible } from "../../../src/openai.ts";
import { type Dialect, eventsOf, slices } from "../openai/dialects.ts";
import { playCuts, type Vendor } from "./campaign.ts";
import { chatWire, openai } from "./chat-wire.ts";
import { type Way, wanted } from "./cut-server.ts";
import type { Said } from "./oracle.ts";

interface Chunk {
  readonly error?: unknown;
  readonly choices?: readonly {
    readonly delta: { readonly content?: string; readonly tool_calls?: readonly { readonly index: number }[] };
    readonly finish_reason: string | null;
  }[];
}

/** A call is finished when the next one begins, or when the server says that it is done. */
function read(data: unknown): Said {
  const { error, choices: [choice] = [] } = data as Chunk;
  if (error) return { isError: true };
  const isDone = typeof choice?.finish_reason === "string";
  const begun = choice?.delta.tool_calls?.[0]?.index ?? 0;
  return { text: choice?.delta.content ?? "", isDone, calls: isDone ? wanted.length : begun };
}

const vendor: Vendor = {
  wire: chatWire,
  reading: { read, isLenient: true },
  model: ({ baseURL, fetch }) => openaiCompatible({ baseURL, model: "m", fetch }),
};

const failure = JSON.stringify({ error: { message: "upstream failed", type: "server_error", code: "502" } });
const ways: Readonly<Record<string, Way>> = {
  "the connection is reset": { after: "reset" },
  "the stream just ends": { after: "end" },
  "the server says an error": { after: "end", more: `\n\ndata: ${failure}\n\n` },
  "a proxy writes its page": { after: "end", more: "HTTP/1.1 502 Bad Gateway\n\n<html>502</html>\n" },
};
const slow = { timeout: 600_000 };

test.each(Object.entries(ways))("%s: whole calls run once, and the text is what was shown", slow, async (_, way) => {
  const { wentOn, someCalls } = await playCuts(vendor, { way, every: 199, around: [-1, 0] });
  expect([wentOn > 0, someCalls > 0]).toEqual([true, true]);
});

test("the server falls silent: whole calls run once, and the text is what was shown", slow, async () => {
  const { wentOn, someCalls } = await playCuts(vendor, {
    way: { after: "hang" },
    every: 199,
    around: [0],
    modelIdleMs: 2_000,
  });
  expect([wentOn > 0, someCalls > 0]).toEqual([true, true]);
});

/** All begin, then each gets a piece in turn: none is finished before the server says that it is done. */
const inTurn: Dialect["calls"] = (calls, size) => {
  const begun = calls.map(({ tool }, index) => ({
    index,
    id: `call_${index}`,
    function: { name: tool, arguments: "" },
  }));
  const pieces = calls.flatMap(({ inputText }, index) =>
    slices(inputText, size).map((text, at) => ({ at, index, function: { arguments: text } })),
  );
  const ordered = pieces.toSorted((one, other) => one.at - other.at).map(({ at: _, ...piece }) => piece);
  return [...begun, ...ordered].map((piece) => ({ tool_calls: [piece] }));
};

test("calls that come in turn: none runs before the server is done, and the text is gone on from", slow, async () => {
  const turns: Vendor = {
    ...vendor,
    wire: { ...chatWire, events: (reply) => eventsOf(reply, { ...openai, calls: inTurn }) },
    reading: { ...vendor.reading, read: (data) => ({ ...read(data), calls: read(data).isDone ? wanted.length : 0 }) },
  };
  const figures = await playCuts(turns, { way: { after: "reset" }, every: 499, around: [0] });
  expect(figures).toMatchObject({ someCalls: 0 });
  expect(figures.wentOn).toBeGreaterThan(10);
});
