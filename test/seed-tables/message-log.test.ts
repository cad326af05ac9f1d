import { expect, test } from "vitest";
import type { MessageId, RunId, ThreadId } from "../../src/domain/ids.ts";
import type { Message, Producer, Role } from "../../src/domain/message.ts";
import {
  firstOutputPosition,
  inputOf,
  type MessageInput,
  type MessageLog,
  type MessageOutput,
  outputOf,
  producerOf,
  readMessageLog,
} from "../../src/domain/seed-tables/message-log.ts";
import { hull, messageRange, rangeLength } from "../../src/domain/seed-tables/message-range.ts";

const run = "run-1" as RunId;
const thread = "thread-1" as ThreadId;
const made = (step: number): Producer => ({ run, step });

function message(role: Role, id: string, producer?: Producer): Message {
  return { id: id as MessageId, role, parts: [], visibility: "all", ...(producer ? { producer } : {}) };
}

const user = (id: string): Message => message("user", id);
const says = (id: string, producer?: Producer): Message => message("assistant", id, producer);

function log(messages: readonly Message[], changes: Partial<MessageLog> = {}): MessageLog {
  return { run, thread, messages, initialCount: 1, stepsEnded: 1, ...changes };
}

function input(from: number, to: number, triggerIds: readonly string[] = []): MessageInput {
  const range = messageRange(from, to);
  return { thread, ...(range ? { range } : {}), triggerIds: triggerIds as MessageId[], selectedIds: [] };
}

function output(from: number, to: number, ids: readonly string[]): MessageOutput {
  const range = messageRange(from, to);
  return { thread, ...(range ? { range } : {}), ids: ids as MessageId[] };
}

test("XA-11 a range is 1-based, holds both ends and is never empty", () => {
  expect(messageRange(1, 1)).toEqual({ from: 1, to: 1 });
  expect(rangeLength({ from: 1, to: 1 })).toBe(1);
  expect(rangeLength({ from: 2, to: 4 })).toBe(3);
});

test("C-036 a range that cannot be is no range, not an error", () => {
  const wrong: readonly [number, number][] = [
    [0, 3],
    [-1, 1],
    [3, 2],
    [1, 0],
    [Number.NaN, 1],
    [1, Number.NaN],
    [1.5, 2],
  ];
  for (const [from, to] of wrong) expect(messageRange(from, to)).toBeUndefined();
});

test("C-033 the hull reaches from the smallest to the largest position", () => {
  expect(hull(undefined, 3)).toEqual({ from: 3, to: 3 });
  expect(hull({ from: 3, to: 3 }, 5)).toEqual({ from: 3, to: 5 });
  expect(hull({ from: 3, to: 5 }, 2)).toEqual({ from: 2, to: 5 });
  expect(hull({ from: 2, to: 5 }, 4)).toEqual({ from: 2, to: 5 });
});

test("C-025 the input is the recorded one; else what was there at the start; it is never guessed", () => {
  const messages = [user("a"), says("b"), user("c")];
  expect(inputOf(log(messages, { earlier: { input: input(3, 3, ["c"]) } }))).toEqual(input(3, 3, ["c"]));
  expect(inputOf(log(messages, { initialCount: 1 }))).toEqual(input(1, 1));
});

test("C-026 the end of the thread moves no input: output written since does not shift it", () => {
  const before = inputOf(log([user("a")]));
  const after = inputOf(log([user("a"), says("b"), says("c"), user("d")]));
  expect(after).toEqual(before);
  expect(after).toEqual(input(1, 1));
});

test("C-027 a run that began with n messages has input 1..n without trigger ids, with none it has no input", () => {
  expect(inputOf(log([], { initialCount: 4 }))).toEqual(input(1, 4));
  expect(inputOf(log([], { initialCount: 0 }))).toBeUndefined();
});

test("C-028 output begins after the input, else at this run's first message, else after what was there", () => {
  const messages = [user("a"), says("b"), says("c", made(0)), user("d")];
  expect(firstOutputPosition(log(messages, { earlier: { input: input(1, 3) } }))).toBe(4);
  const noRange = { thread, triggerIds: [], selectedIds: [] };
  expect(firstOutputPosition(log(messages, { earlier: { input: noRange } }))).toBe(3);
  expect(firstOutputPosition(log(messages, { initialCount: 0 }))).toBe(3);
  expect(firstOutputPosition(log([user("a")], { initialCount: 0 }))).toBe(1);
});

test("C-029 the step of new output is the last one that ended, zero-based; none before the first", () => {
  expect(producerOf({ run, stepsEnded: 3 })).toEqual({ run, step: 2 });
  expect(producerOf({ run, stepsEnded: 1 })).toEqual({ run, step: 0 });
  expect(producerOf({ run, stepsEnded: 0 })).toStrictEqual({ run });
});

test("C-030 output only grows: earlier ids and the earlier range stay", () => {
  const earlier = { input: input(1, 1), output: output(2, 9, ["b", "gone"]) };
  expect(outputOf(log([user("a"), says("b"), says("c")], { earlier }))).toEqual(output(2, 9, ["b", "gone", "c"]));
});

test("C-031 output is what this run made anywhere, and what a model or tool said after the input", () => {
  const messages = [
    says("mine", made(0)),
    user("a"),
    says("said"),
    message("tool", "result"),
    user("b"),
    message("system", "c"),
  ];
  expect(outputOf(log(messages, { initialCount: 2 }))).toEqual(output(1, 4, ["mine", "said", "result"]));
});

test("C-032 only new output is stamped, and an existing stamp is never overwritten", () => {
  const other: Producer = { run: "run-0" as RunId };
  const messages = [says("old"), user("a"), says("b", other), says("c", made(0)), says("d"), user("e")];
  const read = readMessageLog(log(messages, { initialCount: 2, stepsEnded: 4 }));
  const stamps = read.messages.map((each) => each.producer);
  expect(stamps).toEqual([undefined, undefined, other, made(0), made(3), undefined]);
  expect(messages[4]).not.toHaveProperty("producer");
});

test("C-033 a message of a person between two outputs lies inside the range and not among the ids", () => {
  expect(outputOf(log([user("a"), says("b"), user("c"), says("d")]))).toEqual(output(2, 4, ["b", "d"]));
});

test("C-034 ids stay in the order they first appeared, each once", () => {
  const earlier = { input: input(1, 1), output: output(2, 3, ["c", "b"]) };
  const messages = [user("a"), says("b"), says("c"), says("d"), says("d")];
  expect(outputOf(log(messages, { earlier }))?.ids).toEqual(["c", "b", "d"]);
});

test("C-035 with nothing new the earlier output is kept as it is, also when there is none", () => {
  const earlier = { input: input(1, 1), output: output(2, 2, ["b"]) };
  expect(outputOf(log([user("a")], { earlier }))).toEqual(earlier.output);
  expect(outputOf(log([user("a"), user("b")]))).toBeUndefined();
  const blank = { input: input(1, 2), output: output(2, 2, []) };
  expect(outputOf(log([user("a"), user("b")], { earlier: blank }))).toBe(blank.output);
});

test("C-037 a resumed run keeps what it made before the wait", () => {
  const messages = [user("first"), says("old", made(0)), user("resume"), says("new")];
  const earlier = { input: input(1, 3, ["resume"]), output: output(2, 2, ["old"]) };
  const read = readMessageLog(log(messages, { initialCount: 0, stepsEnded: 2, earlier }));
  expect(read.output).toEqual(output(2, 4, ["old", "new"]));
  expect(read.messages[3]?.producer).toEqual(made(1));
  expect(read.messages[1]?.producer).toEqual(made(0));
  expect(read.input).toBe(earlier.input);
});

test("B-102 a remote run's input is the recorded one, else 1..n; n = 0 is no input", () => {
  const read = readMessageLog(log([user("a"), user("b"), says("c")], { initialCount: 2 }));
  expect(read.input).toEqual(input(1, 2));
  expect(readMessageLog(log([], { initialCount: 0 }))).not.toHaveProperty("input");
  expect(readMessageLog(log([], { earlier: { input: input(5, 6) } })).input).toEqual(input(5, 6));
});

test("B-103 the first output position follows the input's end, without a range the n messages", () => {
  expect(firstOutputPosition(log([], { initialCount: 2 }))).toBe(3);
  expect(firstOutputPosition(log([], { initialCount: 0 }))).toBe(1);
});

test("B-104 only what a model or a tool said is output", () => {
  const messages = [user("a"), message("system", "b"), user("c"), says("d"), message("tool", "e")];
  expect(outputOf(log(messages))).toEqual(output(4, 5, ["d", "e"]));
  expect(outputOf(log([user("a"), says("b"), says("c")], { initialCount: 2 }))).toEqual(output(3, 3, ["c"]));
});

test("B-105 output is stamped with run and zero-based step, without a step when none has ended", () => {
  const stamp = (stepsEnded: number): Producer | undefined =>
    readMessageLog(log([user("a"), says("b")], { stepsEnded })).messages[1]?.producer;
  expect(stamp(2)).toEqual(made(1));
  expect(stamp(0)).toStrictEqual({ run });
});

test("B-106 ids are listed in order; a message without one is skipped among the ids only", () => {
  expect(outputOf(log([user("a"), says(" "), says("b"), says("")]))).toEqual(output(2, 4, ["b"]));
});

test("B-107 no output message keeps the earlier output", () => {
  const earlier = { output: output(7, 8, ["x"]) };
  expect(readMessageLog(log([user("a")], { earlier })).output).toEqual(earlier.output);
});

test("B-108 a remote continuation extends the earlier output, as every run does (D-12)", () => {
  const earlier = { input: input(1, 3), output: output(2, 2, ["b"]) };
  const messages = [user("a"), says("b"), user("c"), says("d")];
  expect(outputOf(log(messages, { earlier }))).toEqual(output(2, 4, ["b", "d"]));
});

test("B-109 an inferred input has no trigger and no selected ids, and no field that nothing writes", () => {
  expect(inputOf(log([]))).toStrictEqual({ thread, range: { from: 1, to: 1 }, triggerIds: [], selectedIds: [] });
});
