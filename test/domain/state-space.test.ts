import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import type { SetState } from "../../src/domain/command.ts";
import { isHoldfastError } from "../../src/domain/errors.ts";
import { type StateKeyFacts, type StateScope, stateKey } from "../../src/domain/state-key.ts";
import { type Slots, type StateChanged, slotOf, stateLimits } from "../../src/domain/state-slots.ts";
import {
  changeState,
  emptySpace,
  readState,
  type StateSpace,
  slotIn,
  stateProblems,
  withChange,
} from "../../src/domain/state-space.ts";

type Held = Partial<Pick<StateSpace, "run" | "thread" | "base">>;

function spaceOf(keys: readonly StateKeyFacts[], held: Held = {}): StateSpace {
  return { ...emptySpace, keys: new Map(keys.map((key) => [key.name, key])), ...held };
}

function entryOf(space: StateSpace, write: SetState): StateChanged {
  const changed = changeState(space, write, "guard");
  if (changed.ok) return changed.entry;
  throw new Error(changed.problem);
}

function problemOf(space: StateSpace, write: SetState): string {
  const changed = changeState(space, write, "guard");
  return changed.ok ? "none" : changed.problem;
}

const name = stateKey({ name: "name", schema: z.string(), initial: "nobody" });
const count = stateKey({ name: "count", schema: z.number(), initial: 10, merge: "sum" });
const shared = stateKey({ name: "shared", schema: z.number(), initial: 0, merge: "sum", scope: "thread" });
const words = stateKey({
  name: "words",
  schema: z.array(z.string()),
  initial: [],
  merge: (list, more: { readonly word: string }) => [...list, more.word].sort(),
});
const all = [name, count, shared, words];

test("a key is read as it begins until something was written", () => {
  expect(readState(spaceOf(all), name)).toBe("nobody");
  expect(readState(spaceOf(all, { run: { name: slotOf("ana", 1) } }), name)).toBe("ana");
});

test("what the run has written of its thread's state counts before what the thread held", () => {
  const base = { shared: slotOf(5, 1) };
  expect(readState(spaceOf(all, { base }), shared)).toBe(5);
  expect(readState(spaceOf(all, { base, thread: { shared: slotOf(0, 1) } }), shared)).toBe(0);
  expect(readState(spaceOf(all, { run: { shared: slotOf(9, 1) } }), shared)).toBe(0); // the run has its own
});

test("a key that the agent does not have is refused, also another one of the same name", () => {
  const other = stateKey({ name: "name", schema: z.string(), initial: "" });
  const attempt = (): unknown => readState(spaceOf(all), other);
  expect(attempt).toThrow("The agent has no state key name");
  expect(attempt).toThrow(expect.toSatisfy((error) => isHoldfastError(error, "invalid-state")));
  expect(problemOf(spaceOf([]), name.set("x"))).toContain("The agent has no state key name");
});

test("K1 an exclusive key takes values, a merged one operands, and neither takes the other", () => {
  const set = (key: string): SetState => ({ type: "set-state", key, value: 1 });
  const update = (key: string): SetState => ({ type: "set-state", key, operand: 1 });
  expect(problemOf(spaceOf(all), update("name"))).toBe("state key name: it is exclusive: use set(value)");
  expect(problemOf(spaceOf(all), set("count"))).toBe("state key count: it is merged: use update(operand)");
  expect(problemOf(spaceOf(all), { ...set("count"), operand: 1 })).toContain("it is merged");
  expect(problemOf(spaceOf(all), { type: "set-state", key: "name" })).toContain("it is exclusive");
});

test("only the operand is written where a fold can make the value by itself", () => {
  expect(entryOf(spaceOf(all), count.update(5)).change).toEqual({ merge: "sum", initial: 10, operand: 5 });
  const ofThread = entryOf(spaceOf(all, { base: { shared: slotOf(5, 1) } }), shared.update(2));
  expect(ofThread).toMatchObject({ scope: "thread", change: { value: 7, operand: 2 }, by: "guard" });
  expect(entryOf(spaceOf(all), words.update({ word: "b" })).change).toEqual({ value: ["b"], operand: { word: "b" } });
});

test.each<StateScope>(["run", "thread"])(
  "K2 the value that is kept is what its schema made of it, for a %s",
  (scope) => {
    const most = z.number().transform((number) => Math.min(number, 10));
    const level = stateKey({ name: "level", schema: most, initial: 0, merge: "sum", scope });
    const operands = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1 });
    const property = fc.property(operands, (given) => {
      let space = spaceOf([level]);
      let expected = 0;
      for (const operand of given) {
        space = withChange(space, entryOf(space, level.update(operand)));
        expected = Math.min(expected + operand, 10);
        expect(readState(space, level)).toBe(expected);
      }
    });
    fc.assert(property);
  },
);

test("K2 a value that its schema does not take is not written, nor what a merge cannot make", () => {
  expect(problemOf(spaceOf(all), { type: "set-state", key: "name", value: 7 })).toMatch(/^state key name: \$: /);
  expect(problemOf(spaceOf(all), { type: "set-state", key: "count", operand: "7" })).toBe(
    'state key count: merging threw: A number was expected, not "7"',
  );
  const broken = stateKey({ name: "broken", schema: z.number(), initial: 0, merge: (): number => Number.NaN });
  expect(problemOf(spaceOf([broken]), broken.update(1 as never))).toMatch(/^state key broken: /);
});

test("K2 an operand is written as JSON of its own, or not at all", () => {
  const given = { word: "b" };
  const entry = entryOf(spaceOf(all), words.update(given));
  given.word = "changed";
  expect(entry.change).toEqual({ value: ["b"], operand: { word: "b" } });
  expect(problemOf(spaceOf(all), words.update(new Map() as never))).toBe(
    "state key words: its operand is no JSON: a Map, which has no JSON form at $",
  );
  const tags = stateKey({ name: "tags", schema: z.array(z.unknown()), initial: [], merge: "union" });
  const dated = entryOf(spaceOf([tags]), tags.update([new Date(0)]));
  expect(dated.change).toMatchObject({ operand: ["1970-01-01T00:00:00.000Z"] });
});

/** Slots that fill a scope up to its limit, but for this many bytes. */
function filled(left: number): Slots {
  const full = slotOf("x".repeat(stateLimits.keyBytes - 2), 1);
  const names = Array.from({ length: 15 }, (_, index) => `full-${index}`);
  const rest = slotOf("x".repeat(stateLimits.keyBytes - 2 - left), 1);
  return { ...Object.fromEntries(names.map((each) => [each, full])), rest };
}

test("K2 a scope holds a mebibyte, keys that nobody here knows included, and not a byte more", () => {
  const longName = stateKey({ name: "name", schema: z.string(), initial: "", scope: "thread" });
  expect(problemOf(spaceOf(all, { run: filled(6) }), name.set("1234"))).toBe("none");
  expect(problemOf(spaceOf(all, { run: filled(6) }), name.set("12345"))).toBe(
    "state key name: the run's state would have 1048577 bytes, the limit is 1048576",
  );
  expect(problemOf(spaceOf(all, { base: filled(0) }), name.set("12345"))).toBe("none");
  expect(problemOf(spaceOf([longName], { base: filled(6) }), longName.set("12345"))).toContain("the thread's state");
});

test("K2 what is replaced does not count", () => {
  const full = { ...filled(6), name: slotOf("abcd", 1) };
  expect(problemOf(spaceOf(all, { run: full }), name.set("1234"))).toBe("none");
});

const migrate = (value: unknown, version: number): number => Number(value) * (version === 1 ? 1_000 : 1);
const waited = stateKey({ name: "waited", schema: z.number().int(), initial: 0, version: 3, merge: "sum", migrate });

test("K3 a value of an older version is migrated when it is read", () => {
  expect(readState(spaceOf([waited], { run: { waited: slotOf(2, 1) } }), waited)).toBe(2_000);
  expect(readState(spaceOf([waited], { run: { waited: slotOf(2, 2) } }), waited)).toBe(2);
});

test("K3 an operand is never folded into a value of an older version: the value is written", () => {
  const space = spaceOf([waited], { run: { waited: slotOf(2, 1) } });
  const entry = entryOf(space, waited.update(5));
  expect(entry).toMatchObject({ version: 3, change: { value: 2_005, operand: 5 } });
  expect(entryOf(withChange(space, entry), waited.update(5)).change).toEqual({ merge: "sum", initial: 0, operand: 5 });
});

const unusable: readonly [string, Slots, string][] = [
  ["newer", { waited: slotOf(2, 4) }, "it holds version 4, newer than this process's 3"],
  ["migrated badly", { waited: slotOf("x", 2) }, "migrated from version 2: $: "],
  ["of this version, and does not fit", { waited: slotOf("x", 3) }, "$: "],
];

test.each(unusable)("K3 a value that is %s is named before anybody gets it", (_name, run, problem) => {
  const [found, ...more] = stateProblems(spaceOf([waited, name], { run }));
  expect(found?.startsWith(`state key waited (run): ${problem}`)).toBe(true);
  expect(more).toEqual([]);
});

test("K3 an older value without migrate, or with one that throws, is never handed out", () => {
  const plain = stateKey({ name: "waited", schema: z.number(), initial: 0, version: 2 });
  const throwing = stateKey({
    ...{ name: "waited", schema: z.number(), initial: 0, version: 2 },
    migrate: () => {
      throw new Error("no idea");
    },
  });
  const run = { waited: slotOf(2, 1) };
  expect(() => readState(spaceOf([plain], { run }), plain)).toThrow("it holds version 1 and has no migrate");
  expect(() => readState(spaceOf([throwing], { run }), throwing)).toThrow("migrating it from version 1 threw: no idea");
});

test.each(["constructor", "toString", "__proto__"])("a key called %s is a key like any other", (odd) => {
  const key = stateKey({ name: odd, schema: z.number(), initial: 1, merge: "sum" });
  const ofThread = stateKey({ name: odd, schema: z.number(), initial: 1, scope: "thread" });
  expect(readState(spaceOf([key]), key)).toBe(1);
  expect(readState(spaceOf([ofThread]), ofThread)).toBe(1);
  expect(slotIn(spaceOf([key]), key)).toBeUndefined();
  const space = withChange(spaceOf([key]), entryOf(spaceOf([key]), key.update(2)));
  expect(readState(space, key)).toBe(3);
});
