import { expect, test } from "vitest";
import { z } from "zod";
import { type HoldfastError, isHoldfastError } from "../../src/domain/errors.ts";
import { isReservedName, type StateKeyFacts, type StateKeyOptions, stateKey } from "../../src/domain/state-key.ts";
import { stateLimits } from "../../src/domain/state-slots.ts";
import { checkedValue } from "../../src/domain/state-values.ts";

const schema = z.number();
const good = { name: "count", schema, initial: 0 };

/** What a caller without types may write. */
function define(options: unknown): StateKeyFacts {
  return stateKey(options as StateKeyOptions<typeof schema>);
}

function refusalOf(options: unknown): HoldfastError {
  try {
    define(options);
  } catch (error) {
    if (isHoldfastError(error, "invalid-state-key")) return error;
    throw error;
  }
  throw new Error("the key was defined");
}

function schemaWith(validate: (value: unknown) => unknown): unknown {
  return { "~standard": { version: 1, vendor: "home-made", validate } };
}

test("the smallest key is exclusive, of one run and of version 1", () => {
  expect(stateKey(good)).toMatchObject({ name: "count", scope: "run", version: 1, merge: "exclusive" });
  expect(stateKey(good).code).toEqual({ schema, initial: 0 });
});

test("every option arrives where it is read", () => {
  const migrate = (): number => 1;
  const key = stateKey({ ...good, scope: "thread", version: 3, migrate, merge: "sum" });
  expect(key).toMatchObject({ scope: "thread", version: 3, merge: "sum" });
  expect(key.code).toEqual({ schema, initial: 0, migrate });
});

test("a merge of one's own is custom, and its code is kept apart", () => {
  const merge = (value: number, operand: number): number => value * operand;
  const key = stateKey({ ...good, merge });
  expect(key.merge).toBe("custom");
  expect(key.code).toEqual({ schema, initial: 0, merge });
});

test("K1 an exclusive key makes commands that hold a value, a merged one commands that hold an operand", () => {
  expect(stateKey(good).set(5)).toStrictEqual({ type: "set-state", key: "count", value: 5 });
  expect(stateKey({ ...good, merge: "sum" }).update(5)).toStrictEqual({ type: "set-state", key: "count", operand: 5 });
  const appended = stateKey({ ...good, merge: (value: number, word: string) => value + word.length }).update("four");
  expect(appended).toStrictEqual({ type: "set-state", key: "count", operand: "four" });
});

test("undefined is the same as leaving an option out", () => {
  const left = { scope: undefined, version: undefined, merge: undefined, migrate: undefined };
  expect(JSON.stringify(define({ ...good, ...left }))).toBe(JSON.stringify(stateKey(good)));
});

const version = "version: must be a whole number from 1 to 1000000";
const wrong: readonly [string, unknown, string][] = [
  ["name", undefined, "name: must match"],
  ["name", "", "name: must match"],
  ["name", "my count", "name: must match"],
  ["name", "x".repeat(129), "name: must match"],
  ["name", 7, "name: must match"],
  ["schema", undefined, "schema: must be a Standard Schema"],
  ["schema", { type: "number" }, "schema: must be a Standard Schema"],
  ["initial", undefined, "initial: $: "],
  ["initial", "0", "initial: $: "],
  ["initial", Number.NaN, "initial: $: "],
  ["scope", "agent", "scope: must be one of run, thread"],
  ["version", 0, version],
  ["version", 1.5, version],
  ["version", 1_000_001, version],
  ["version", "2", version],
  ["migrate", true, "migrate: must be a function (value, version)"],
  ["merge", "append", "merge: must be exclusive, sum, max, min, union or a function (value, operand)"],
  ["merge", null, "merge: must be exclusive, sum, max, min, union or a function (value, operand)"],
];

test.each(wrong)("%s: %o is refused by name", (name, value, problem) => {
  const { problems } = refusalOf({ ...good, [name]: value });
  expect(problems).toEqual([expect.stringContaining(problem)]);
  expect(problems[0]?.startsWith(problem)).toBe(true);
});

test.each([1, 1_000_000])("version takes %i, its very limit", (each) => {
  expect(stateKey({ ...good, version: each }).version).toBe(each);
});

test.each(["holdfast.steps", "__runtime.run_lifecycle", "holdfast.", "__runtime_backend_output"])(
  "the name %s is the runtime's own",
  (name) => {
    expect(refusalOf({ ...good, name }).problems[0]).toContain("not begin with holdfast. or __runtime");
    expect(isReservedName(name)).toBe(true);
  },
);

test.each(["holdfast", "my.holdfast.steps", "a", "A-1_b.c", "x".repeat(128)])("the name %s is free", (name) => {
  expect(stateKey({ ...good, name }).name).toBe(name);
});

test("an unknown option is refused and the known ones are named", () => {
  const { problems } = refusalOf({ ...good, default: 0 });
  expect(problems).toEqual([
    "default: unknown option; known are name, schema, initial, scope, merge, version, migrate",
  ]);
});

test("one error names every problem and the key", () => {
  const error = refusalOf({ name: "count", schema, initial: "0", scope: "x", version: 0, migrate: 1, merge: "x" });
  const names = error.problems.map((problem) => problem.split(":")[0]);
  expect(names.sort()).toEqual(["initial", "merge", "migrate", "scope", "version"]);
  expect(error.message).toContain('State key "count" cannot be defined');
});

test.each([null, undefined, "count", 7, [], () => 1])("%o is no options record", (options) => {
  expect(refusalOf(options).problems[0]).toMatch(/^options must be an object, got /);
});

test("a schema that answers with a promise is refused, also one whose promise fails", async () => {
  const problem = "initial: its schema answers with a promise; a state schema must be synchronous";
  const later = schemaWith(async (value) => ({ value }));
  const never = schemaWith(() => Promise.reject(new Error("no database")));
  expect(refusalOf({ ...good, schema: later }).problems).toEqual([problem]);
  expect(refusalOf({ ...good, schema: never }).problems).toEqual([problem]);
  expect(refusalOf({ ...good, schema: z.number().refine(async () => true) }).problems[0]).toMatch(/^initial: /);
  await new Promise((resolve) => setImmediate(resolve)); // a rejection that nobody handles would show by now
});

test("a schema that throws is refused with what it threw", () => {
  const throwing = schemaWith(() => {
    throw new Error("no such table");
  });
  expect(refusalOf({ ...good, schema: throwing }).problems).toEqual(["initial: checking it threw: no such table"]);
});

test("K2 an initial value that is too big, too deep or no JSON is refused", () => {
  const any = schemaWith((value) => ({ value }));
  const fits = "x".repeat(stateLimits.keyBytes - 2);
  expect(define({ name: "text", schema: any, initial: fits }).code.initial).toBe(fits);
  expect(refusalOf({ ...good, schema: any, initial: `${fits}x` }).problems[0]).toContain("the limit is 65536 at $");
  expect(refusalOf({ ...good, schema: any, initial: new Map() }).problems).toEqual([
    "initial: a Map, which has no JSON form at $",
  ]);
  const deep = JSON.parse(`${"[".repeat(65)}${"]".repeat(65)}`);
  expect(refusalOf({ ...good, schema: any, initial: deep }).problems[0]).toContain("nesting deeper than 64");
});

test("K2 what is read before anything was written is what the schema made of it, and nobody can change it later", () => {
  const rules = z.object({ words: z.array(z.string()), most: z.number().default(3) });
  const initial = { words: ["a"] };
  const key = define({ name: "rules", schema: rules, initial });
  initial.words.push("b");
  expect(key.code.initial).toEqual({ words: ["a"], most: 3 });
});

test.each(["sum", "max", "min"])("the merge %s needs a number to begin with", (merge) => {
  const list = { name: "list", schema: z.array(z.number()), initial: [], merge };
  expect(refusalOf(list).problems).toEqual([`merge: ${merge} is of numbers, and initial is none`]);
  expect(define({ ...good, merge }).merge).toBe(merge);
});

test("the merge union needs a list to begin with", () => {
  expect(refusalOf({ ...good, merge: "union" }).problems).toEqual(["merge: union is of lists, and initial is none"]);
  expect(define({ name: "list", schema: z.array(z.number()), initial: [], merge: "union" }).merge).toBe("union");
});

test("a checked value is JSON of its own, as the schema made it", () => {
  const given = { at: "2020-01-01", more: 1 };
  const checked = checkedValue(z.object({ at: z.string() }), given);
  expect(checked).toEqual({ ok: true, value: { at: "2020-01-01" }, bytes: 19 });
  expect(checkedValue(z.object({ at: z.string() }), { at: 1 })).toEqual({
    ok: false,
    problem: expect.stringMatching(/^\$\.at: /),
  });
});
