import { expect, test } from "vitest";
import { isHoldfastError } from "../../src/domain/errors.ts";
import { entryFormat, readCommit, upcast } from "../../src/domain/upcast.ts";

type Row = Record<string, unknown>;

const rename = (entries: readonly unknown[]): readonly unknown[] =>
  entries.map((entry) => ({ type: (entry as Row).kind }));
const addStep = (entries: readonly unknown[]): readonly unknown[] =>
  entries.map((entry) => ({ ...(entry as Row), step: 1 }));

function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isHoldfastError(error, "entry-unreadable")) return error.message;
    throw error;
  }
  return "read";
}

test("a commit in today's format is read as it is", () => {
  const entries = [{ type: "run-resumed" }];
  expect(readCommit({ format: entryFormat, body: JSON.stringify(entries) })).toEqual(entries);
});

test("one step brings an older format up to date", () => {
  expect(upcast([{ kind: "run-resumed" }], 1, { 1: rename })).toEqual([{ type: "run-resumed" }]);
});

test("two steps are the two composed, and a newer format takes only the second", () => {
  const steps = { 1: rename, 2: addStep };
  const old = [{ kind: "step-started" }, { kind: "step-ended" }];
  expect(upcast(old, 1, steps)).toEqual(addStep(rename(old)));
  expect(upcast(rename(old), 2, steps)).toEqual(addStep(rename(old)));
  expect(upcast(addStep(rename(old)), 3, steps)).toEqual(addStep(rename(old)));
});

test("a newer format is refused, saying both", () => {
  expect(refusalOf(() => upcast([], 4, { 1: rename, 2: addStep }))).toContain("format 4; this version reads up to 3");
  expect(refusalOf(() => readCommit({ format: entryFormat + 1, body: "[]" }))).toContain(`up to ${entryFormat}`);
});

test("a format that no step leads from is refused", () => {
  expect(refusalOf(() => upcast([], 1, { 2: addStep }))).toContain("No upcaster from entry format 1");
  expect(refusalOf(() => readCommit({ format: 0, body: "[]" }))).toContain("No upcaster from entry format 0");
  expect(refusalOf(() => readCommit({ format: -1, body: "[]" }))).toContain("No upcaster");
});

test.each(["", "{", "not json", "[1,", "\0"])("a body that is not JSON is refused: %j", (body) => {
  expect(refusalOf(() => readCommit({ format: entryFormat, body }))).toBe("A stored commit is not JSON");
});

test.each(["null", "{}", '"text"', "7", "true"])("a body that is no list is refused: %s", (body) => {
  expect(refusalOf(() => readCommit({ format: entryFormat, body }))).toBe("A stored commit is not a list of entries");
});
