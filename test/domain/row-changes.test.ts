import { expect, test } from "vitest";
import type { EntryBody, Settled } from "../../src/domain/entry.ts";
import { rowChanges } from "../../src/domain/row-changes.ts";
import type { RunStatus } from "../../src/domain/run.ts";
import * as j from "./journal.ts";

const nothing = { opened: [], decided: [], takenInputs: [], messages: 0, slots: [], cites: [], progressed: false };

test("no entries and ordinary entries change no row", () => {
  const ordinary = [j.stepStarted(), j.modelIntended(), j.callGated(), j.toolIntended(), j.stepEnded()];
  expect(rowChanges([])).toStrictEqual(nothing);
  expect(rowChanges(ordinary)).toStrictEqual(nothing);
});

const statuses: readonly [EntryBody, RunStatus][] = [
  [j.runStarted, "running"],
  [j.runResumed, "running"],
  [j.runWaiting(j.ticket()), "waiting"],
  [j.runEnded(), "done"],
];

test.each(statuses)("%j sets the status to %s", (body, status) => {
  expect(rowChanges([j.stepEnded(), body]).status).toBe(status);
});

test("the last status of a commit is the one that counts", () => {
  expect(rowChanges([j.runStarted, j.runWaiting(), j.runResumed, j.runEnded()]).status).toBe("done");
});

test("run-started gives the start position, zero included", () => {
  expect(rowChanges([{ type: "run-started", position: 12 }]).startPosition).toBe(12);
  expect(rowChanges([j.runStarted]).startPosition).toBe(0);
  expect(rowChanges([j.runResumed])).not.toHaveProperty("startPosition");
});

test("tickets are listed as they open, decisions with their place in the commit", () => {
  const [first, second] = [j.ticket(), j.ticket("timer")];
  const decision = j.decided({ kind: "elapsed" }, second.id);
  const changes = rowChanges([j.opened(first), j.opened(second), decision]);
  expect(changes.opened).toEqual([first, second]);
  expect(changes.decided).toEqual([{ decided: decision, index: 2 }]);
});

test("every message counts, and an input that became one is taken", () => {
  const changes = rowChanges([j.appendInput, j.answered(1), j.resultAppended(), j.inputTaken(3, "in-9")]);
  expect(changes).toMatchObject({ messages: 4, takenInputs: ["in-9"] });
});

const progress: readonly [Settled, boolean][] = [
  [{ kind: "done" }, true],
  [{ kind: "failed", error: { code: "model-failed", message: "x" }, retry: "later" }, true],
  [{ kind: "refused", code: "tool-failed", message: "x" }, true],
  [{ kind: "aborted" }, true],
  [j.unknownResult, true],
  [{ kind: "lost" }, false],
  [{ kind: "not-made" }, false],
];

test.each(progress)("a settlement %j is progress: %s", (result, progressed) => {
  expect(rowChanges([j.toolSettled(result)]).progressed).toBe(progressed);
  expect(rowChanges([j.modelSettled(result), j.modelIntended(1, 2)]).progressed).toBe(progressed);
});

test("waiting and ending are progress; starting, resuming and intending again are not", () => {
  expect(rowChanges([j.runWaiting()]).progressed).toBe(true);
  expect(rowChanges([j.runEnded()]).progressed).toBe(true);
  expect(rowChanges([j.runStarted, j.runResumed, j.stepStarted(), j.modelIntended(1, 2)]).progressed).toBe(false);
});

const stateChanged = { type: "state-changed", key: "k", scope: "thread", version: 1, by: "p" } as const;

test("of the thread's state the last value of each key changes a row; of the run's state none does", () => {
  const changes = rowChanges([
    { ...stateChanged, change: { value: 1 } },
    { ...stateChanged, key: "j", version: 2, change: { value: { a: null }, operand: 7 } },
    { ...stateChanged, change: { value: null } },
    { ...stateChanged, scope: "run", change: { value: 3 } },
    { ...stateChanged, scope: "run", change: { merge: "sum", initial: 0, operand: 1 } },
  ]);
  expect(changes).toStrictEqual({
    ...nothing,
    slots: [
      { key: "k", version: 1, value: null },
      { key: "j", version: 2, value: { a: null } },
    ],
  });
});

test("a change of the thread's state that does not carry its value is refused", () => {
  const entry: EntryBody = { ...stateChanged, change: { merge: "sum", initial: 0, operand: 1 } };
  expect(() => rowChanges([entry])).toThrow(expect.objectContaining({ code: "illegal-transition" }));
});
