import { expect, test } from "vitest";
import { isHoldfastError } from "../../src/domain/errors.ts";
import {
  callId,
  modelEffectId,
  parseId,
  type RunId,
  replyId,
  resultId,
  ticketId,
  toolEffectId,
} from "../../src/domain/ids.ts";

function refusalOf(text: unknown): string {
  try {
    parseId("thread id", text);
  } catch (error) {
    if (isHoldfastError(error, "invalid-id")) return error.message;
    throw error;
  }
  return "taken";
}

test("XS-37 an id has 1 to 512 bytes, counted as UTF-8", () => {
  expect(refusalOf("")).toBe("thread id must not be empty");
  expect(refusalOf("a")).toBe("taken");
  expect(refusalOf("a".repeat(512))).toBe("taken");
  expect(refusalOf("a".repeat(513))).toBe("thread id is longer than 512 bytes");
  expect(refusalOf("ü".repeat(256))).toBe("taken");
  expect(refusalOf("ü".repeat(257))).toBe("thread id is longer than 512 bytes");
});

test.each(["\0", "a\nb", "\t", "\u007f", "\u0085", "\u001b[31m"])(
  "XS-37 an id has no control character: %j",
  (text) => {
    expect(refusalOf(text)).toBe("thread id has a control character");
  },
);

test("XS-37 an id that is refused is not printed", () => {
  expect(refusalOf("secret\n")).not.toContain("secret");
  expect(refusalOf(`secret${"x".repeat(600)}`)).not.toContain("secret");
});

test("an id is text that every store can keep", () => {
  expect(refusalOf("a\ud800")).toBe("thread id has a lone surrogate");
  expect(refusalOf(null)).toBe("thread id must be a string, got null");
  expect(refusalOf(undefined)).toBe("thread id must be a string, got undefined");
  expect(refusalOf(7)).toBe("thread id must be a string, got number");
  expect(refusalOf({ toString: () => "x" })).toBe("thread id must be a string, got object");
});

test("odd but harmless ids are taken as they are", () => {
  for (const text of ["__proto__", "constructor", "a/b c", "😀", "'; drop table runs; --"]) {
    expect(parseId("run id", text)).toBe(text);
  }
});

test("derived ids are the same for the same place and differ for every other", () => {
  const run = "r" as RunId;
  const call = callId(run, 2, 3);
  const ids = [
    call,
    callId(run, 3, 2),
    modelEffectId(run, 2),
    replyId(run, 2),
    resultId(call),
    toolEffectId(call, 2),
    toolEffectId(call, 3),
    ticketId(call, "approval", 1),
    ticketId(call, "approval", 2),
    ticketId(call, "unknown-outcome", 1),
    ticketId(run, "pause", 1),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  expect(callId(run, 2, 3)).toBe(call);
});

test("the first effect of a call bears the call's id", () => {
  const call = callId("r" as RunId, 1, 0);
  expect(toolEffectId(call, 1)).toBe(call);
});
