/**
 * What is counted over the steps of a run. It is in the run's state, so a resume goes on counting where it was.
 *
 * C1 A counter moves once per ended step, in the commit that ends the look at it; a crash in between changes nothing.
 * C2 Calls that a plugin has dropped with their reply were never made: they are no error, no success and no repetition.
 * C3 What is kept does not grow: one number, and at most `mostRemembered` short hashes.
 */
import type { CallResult } from "../../domain/message.ts";
import type { StateKey } from "../../domain/state-key.ts";
import { stateKey } from "../../domain/state-key.ts";
import { valueSchema } from "../shared/value-schema.ts";

export const mostRemembered = 200;

/** Errors in a row at the end of the calls so far. */
export const errorsInARow: StateKey<number> = stateKey({
  name: "stop-conditions.errors",
  schema: valueSchema<number>((value) => Number.isSafeInteger(value) && Number(value) >= 0, "must be a whole number"),
  initial: 0,
});

/** Hashes of the newest calls, oldest first. */
export const recentCalls: StateKey<readonly string[]> = stateKey({
  name: "stop-conditions.calls",
  schema: valueSchema<readonly string[]>(isHashList, `must be a list of at most ${mostRemembered} hashes`),
  initial: [],
});

function isHashList(value: unknown): boolean {
  return Array.isArray(value) && value.length <= mostRemembered && value.every((hash) => typeof hash === "string");
}

/** C2. */
export function wasDropped(result: CallResult | undefined): boolean {
  return result?.kind === "error" && result.code === "not-run";
}

export interface Streak {
  readonly longest: number;
  /** At the end, where the next step goes on. */
  readonly last: number;
}

export function streakAfter(before: number, results: readonly CallResult[]): Streak {
  let last = before;
  let longest = before;
  for (const { kind } of results) {
    last = kind === "error" ? last + 1 : 0;
    longest = Math.max(longest, last);
  }
  return { longest, last };
}

export interface Remembered {
  readonly hashes: readonly string[];
  /** The first call that was made so often, by its place in `added`. */
  readonly repeated?: { readonly index: number; readonly times: number };
}

/** Looks after each call: many calls of one step could push each other out of the window. */
export function remember(
  before: readonly string[],
  added: readonly string[],
  { calls, window }: { readonly calls: number; readonly window: number },
): Remembered {
  let hashes = before;
  let repeated: Remembered["repeated"];
  for (const [index, hash] of added.entries()) {
    hashes = [...hashes, hash].slice(-window);
    const times = hashes.filter((each) => each === hash).length;
    if (times >= calls) repeated ??= { index, times };
  }
  return { hashes, ...(repeated ? { repeated } : {}) };
}
