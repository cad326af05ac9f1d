import fc from "fast-check";
import { expect, test } from "vitest";
import { foldAll } from "../../src/domain/apply.ts";
import { isHoldfastError } from "../../src/domain/errors.ts";
import type { JsonValue } from "../../src/domain/json.ts";
import {
  type BuiltInMerge,
  builtInMerges,
  bytesOf,
  changeSlot,
  merged,
  type Slots,
  type StateChange,
  type StateChanged,
  slotOf,
} from "../../src/domain/state-slots.ts";
import * as j from "./journal.ts";

function changed(change: StateChange, key = "notes", version = 1): StateChanged {
  return { type: "state-changed", key, scope: "run", version, change, by: "guard" };
}

const json = fc.jsonValue() as fc.Arbitrary<JsonValue>;
/** Of whole numbers a double gives exact sums as far as these can add up. */
const whole = fc.integer({ min: -(2 ** 40), max: 2 ** 40 });
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0);

const operands: Readonly<Record<BuiltInMerge, fc.Arbitrary<JsonValue>>> = {
  sum: whole,
  max: finite,
  min: finite,
  union: fc.array(fc.oneof(fc.constantFrom("a", "b", 1, null), json)),
};

test.each(builtInMerges)("K1 %s: any order of operands gives one value", (merge) => {
  const list = fc.array(operands[merge], { minLength: 1, maxLength: 8 });
  const shuffled = list.chain((given) =>
    fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length })),
  );
  const property = fc.property(operands[merge], shuffled, (initial, [one, other]) => {
    const result = (order: readonly JsonValue[]): JsonValue =>
      order.reduce((value, operand) => merged(merge, value, operand), initial);
    expect(JSON.stringify(result(other))).toBe(JSON.stringify(result(one)));
  });
  fc.assert(property, { numRuns: 300 });
});

test("what each merge makes of two values", () => {
  expect(merged("sum", 2, -5)).toBe(-3);
  expect(merged("max", 2, -5)).toBe(2);
  expect(merged("min", 2, -5)).toBe(-5);
  expect(merged("union", ["b", 1], ["a", "b"])).toEqual(["a", "b", 1]);
});

test("a sum of fractions is the same in any order up to rounding, and no further", () => {
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => merged("sum", a, b) as number, 0);
  expect(sum([0.1, 0.2, 0.3])).toBeCloseTo(sum([0.3, 0.2, 0.1]), 12);
  expect(sum([0.1, 0.2, 0.3])).not.toBe(sum([0.3, 0.2, 0.1]));
});

test("a union holds each item once, also inside the list it begins with", () => {
  const property = fc.property(operands.union, operands.union, (list, more) => {
    const items = merged("union", list, more) as readonly JsonValue[];
    const texts = items.map((item) => JSON.stringify(item));
    expect(new Set(texts).size).toBe(texts.length);
    expect(merged("union", items, more)).toEqual(items);
  });
  fc.assert(property, { numRuns: 200 });
});

const wrong: readonly [BuiltInMerge, readonly [JsonValue, JsonValue], string][] = [
  ["sum", ["2", 1], 'A number was expected, not "2"'],
  ["sum", [2, null], "A number was expected, not null"],
  ["max", [[], 1], "A number was expected, not []"],
  ["min", [1, { a: 1 }], 'A number was expected, not {"a":1}'],
  ["union", ["a", ["b"]], 'A list was expected, not "a"'],
  ["union", [["a"], "b"], 'A list was expected, not "b"'],
  ["union", [["a"], { 0: "b" }], 'A list was expected, not {"0":"b"}'],
  ["sum", [Number.MAX_VALUE, Number.MAX_VALUE], "A sum is too large for a number"],
];

test.each(wrong)("%s of the two in %j is invalid-state", (merge, [value, operand], message) => {
  const attempt = (): JsonValue => merged(merge, value, operand);
  expect(attempt).toThrow(message);
  expect(attempt).toThrow(expect.toSatisfy((error) => isHoldfastError(error, "invalid-state")));
});

test("a wrong type is shown only in part when it is long", () => {
  expect(() => merged("sum", "x".repeat(5_000), 1)).toThrow(/^.{1,150}$/);
});

test("a slot knows the bytes of its JSON, not its characters", () => {
  expect(slotOf("é", 1)).toEqual({ value: "é", version: 1, bytes: 4 });
  expect(slotOf({ a: [1, null] }, 2)).toEqual({ value: { a: [1, null] }, version: 2, bytes: 14 });
});

test("the bytes of a scope are those of all its slots", () => {
  const property = fc.property(fc.dictionary(fc.string(), json), (values) => {
    let slots: Slots = {};
    for (const [key, value] of Object.entries(values)) slots = changeSlot(slots, changed({ value }, key));
    const sizes = Object.values(values).map((value) => Buffer.byteLength(JSON.stringify(value)));
    expect(bytesOf(slots)).toBe(sizes.reduce((a, b) => a + b, 0));
  });
  fc.assert(property);
});

test("a value takes the place of the old one, with the version that wrote it and its bytes", () => {
  const before = { notes: slotOf(["long", "list"], 1), other: slotOf(1, 4) };
  expect(changeSlot(before, changed({ value: null }, "notes", 2))).toEqual({
    notes: { value: null, version: 2, bytes: 4 },
    other: slotOf(1, 4),
  });
  expect(before.notes.value).toEqual(["long", "list"]);
});

test("an operand is merged into what is there, and into the initial value where nothing is", () => {
  const add = (operand: number): StateChanged => changed({ merge: "sum", initial: 10, operand });
  const once = changeSlot({}, add(1));
  expect(once).toEqual({ notes: { value: 11, version: 1, bytes: 2 } });
  expect(changeSlot(once, add(5))).toEqual({ notes: { value: 16, version: 1, bytes: 2 } });
});

test("a value that is there counts, also when it is null or 0", () => {
  const add = changed({ merge: "sum", initial: 10, operand: 1 });
  expect(changeSlot({ notes: slotOf(0, 1) }, add).notes?.value).toBe(1);
  expect(() => changeSlot({ notes: slotOf(null, 1) }, add)).toThrow("A number was expected, not null");
});

test("a custom merge is written with its value; the operand is only told", () => {
  const slots = changeSlot({ notes: slotOf(2, 1) }, changed({ value: 6, operand: 3 }));
  expect(slots).toEqual({ notes: { value: 6, version: 1, bytes: 1 } });
});

test.each(["__proto__", "constructor", "toString"])("a key called %s is a slot like any other", (key) => {
  const once = changeSlot({}, changed({ merge: "sum", initial: 0, operand: 1 }, key));
  const twice = changeSlot(JSON.parse(JSON.stringify(once)), changed({ merge: "sum", initial: 0, operand: 1 }, key));
  expect(Object.entries(twice)).toEqual([[key, { value: 2, version: 1, bytes: 1 }]]);
  expect(bytesOf(twice)).toBe(1);
});

test("a run and its thread have slots of their own, and a scope's change touches no other", () => {
  const state = foldAll(
    j.journal(
      j.created(),
      j.runStarted,
      j.stateChanged({ value: "mine" }),
      j.stateChanged({ value: "ours" }, { scope: "thread" }),
      j.stateChanged({ value: ["x"], operand: ["x"] }, { scope: "thread", key: "seen", version: 3 }),
    ),
  );
  expect(state.slots).toEqual({ notes: slotOf("mine", 1) });
  expect(state.threadSlots).toEqual({ notes: slotOf("ours", 1), seen: slotOf(["x"], 3) });
});
