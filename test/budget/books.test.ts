/** The books of a run as its journal folds to them. */
import { expect, test } from "vitest";
import { foldAll } from "../../src/domain/apply.ts";
import type { EntryBody, Settled } from "../../src/domain/entry.ts";
import * as j from "../domain/journal.ts";

const held = { tokens: 100, microUsd: 30, outputTokens: 40 };
const intended: EntryBody = { ...(j.modelIntended() as Extract<EntryBody, { type: "effect-intended" }>), held };
const limits = { steps: 5, tokens: 1_000, microUsd: 500 };

function booksAfter(...bodies: readonly EntryBody[]) {
  return foldAll(j.journal(j.created({ budget: limits }), j.runStarted, j.stepStarted(), ...bodies)).ledger;
}

test("B1 an attempt holds what its intent says", () => {
  expect(booksAfter(intended)).toEqual({
    spent: { tokens: 0, microUsd: 0 },
    held: { "run-1.1.model": { tokens: 100, microUsd: 30 } },
  });
});

const ends: readonly (readonly [string, Settled, object])[] = [
  ["is done: what it cost", { kind: "done", cost: { tokens: 60, microUsd: 9 } }, { tokens: 60, microUsd: 9 }],
  ["is lost with its process: what it held (B3)", { kind: "lost" }, { tokens: 100, microUsd: 30 }],
  ["is aborted: what it held, for nobody was told", { kind: "aborted" }, { tokens: 100, microUsd: 30 }],
  ["is unknown: what it held (B3)", { kind: "unknown", why: "lost", decidableFrom: 0 }, { tokens: 100, microUsd: 30 }],
  ["was not made: nothing", { kind: "not-made" }, { tokens: 0, microUsd: 0 }],
  [
    "failed: nothing",
    { kind: "failed", error: { code: "model-failed", message: "no" }, retry: "later" },
    { tokens: 0, microUsd: 0 },
  ],
];

test.each(ends)("an attempt that %s", (_what, result, spent) => {
  expect(booksAfter(intended, j.modelSettled(result))).toEqual({ spent, held: {} });
});

test("an intent that holds more than is left is no legal entry", () => {
  const greedy = { ...intended, held: { tokens: 1_001, microUsd: 0, outputTokens: 1 } } as EntryBody;
  expect(() => booksAfter(greedy)).toThrow("cannot hold");
});
