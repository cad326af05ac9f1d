import { expect, test } from "vitest";
import type { Outcome } from "../../src/domain/run.ts";
import type { RunState } from "../../src/domain/run-state.ts";
import { messagesOf } from "../../src/domain/sink-message.ts";

function told(outcome: Outcome | undefined, output?: { readonly value: string }): readonly unknown[] {
  const identity = { scope: "s", run: "r", thread: "t", agent: "a", rootRun: "r", origin: "user" };
  const state = { created: { identity }, outcome, output, stepsEnded: 2, usage: { inputTokens: 1, outputTokens: 3 } };
  return messagesOf(state as unknown as RunState, 7);
}

const facts = { scope: "s", run: "r", thread: "t", agent: "a", at: 7 };
const measures = { steps: 2, usage: { inputTokens: 1, outputTokens: 3 } };
const error = { code: "output-invalid", message: "canary" } as const;

const ends: readonly [Outcome, object][] = [
  [
    { kind: "stopped", code: "steps", detail: "canary" },
    { kind: "stopped", code: "steps" },
  ],
  [{ kind: "blocked", reason: "canary" }, { kind: "blocked" }],
  [{ kind: "cancelled", reason: "canary" }, { kind: "cancelled" }],
  [
    { kind: "failed", error, retry: "never" },
    { kind: "failed", code: "output-invalid", retry: "never" },
  ],
  [{ kind: "timed-out" }, { kind: "timed-out" }],
];

test.each(ends)("O1 %o is told in codes, and without an output even where one has passed", (outcome, shown) => {
  expect(told(outcome, { value: "canary" })).toEqual([{ type: "run-ended", ...facts, outcome: shown, ...measures }]);
});

test("a completed run tells its output, if it has one, and its end", () => {
  const ended = { type: "run-ended", ...facts, outcome: { kind: "completed", reason: "natural" }, ...measures };
  expect(told({ kind: "completed", reason: "natural" })).toEqual([ended]);
  const both = told({ kind: "completed", reason: "natural" }, { value: "yes" });
  expect(both).toEqual([{ type: "output", ...facts, output: "yes" }, ended]);
});

test("a run that has not ended tells nothing", () => {
  expect(told(undefined, { value: "yes" })).toEqual([]);
});
