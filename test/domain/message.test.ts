import { expect, test } from "vitest";
import type { CallId, MessageId, RunId } from "../../src/domain/ids.ts";
import { callsOf, type Message, stampProducer, textOf } from "../../src/domain/message.ts";

const calling = {
  type: "tool-call",
  call: "r.1.0" as CallId,
  tool: "refund",
  input: { kind: "json", value: 1 },
} as const;
const message: Message = {
  id: "m-1" as MessageId,
  role: "assistant",
  visibility: "all",
  parts: [{ type: "reasoning", text: "hm" }, { type: "text", text: "a" }, calling, { type: "text", text: "b" }],
};

test("XA-12 the text of a message is its text parts joined, and nothing else", () => {
  expect(textOf(message)).toBe("ab");
  expect(textOf({ ...message, parts: [] })).toBe("");
});

test("the calls of a message are its tool-call parts, in order", () => {
  expect(callsOf(message)).toEqual([calling]);
});

test("C-032 the first producer stamp stays", () => {
  const first = stampProducer(message, { run: "r-1" as RunId, step: 0 });
  expect(first.producer).toEqual({ run: "r-1", step: 0 });
  expect(stampProducer(first, { run: "r-2" as RunId, step: 4 })).toBe(first);
  expect(message).not.toHaveProperty("producer");
});
