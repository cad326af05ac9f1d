/**
 * A transactional call: its writes and its settlement are one commit.
 *
 * X1 `apply` runs only inside a commit that the fence has let through, so a worker that lost the run writes nothing.
 * X2 Whatever it throws, answers too late, or answers that cannot be stored undoes it: the call failed, nothing happened.
 *    It is never unknown.
 * X3 A run that is to end applies nothing more.
 */
import { errorResult } from "../domain/apply-call.ts";
import type { EntryBody } from "../domain/entry.ts";
import { isHoldfastError, ToolFailure } from "../domain/errors.ts";
import { messageOf } from "../domain/json.ts";
import type { CallErrorCode } from "../domain/message.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Clock } from "../ports/clock.ts";
import type { Transact } from "../ports/store.ts";
import { type Circumstances, openDraft } from "./draft.ts";
import { valueEnd } from "./ended.ts";
import { urgentEnd } from "./finish.ts";
import { settleWithin } from "./settle-within.ts";
import { isOpen, takeFact, withAnswers } from "./take-fact.ts";
import type { Fact, PreparedFact } from "./work.ts";

export interface Moment {
  readonly state: RunState;
  readonly at: Circumstances;
}

/** X3. */
export function mayApply(fact: PreparedFact, { state, at }: Moment): boolean {
  return isOpen({ state }, fact) && urgentEnd(openDraft(state, at)) === undefined;
}

export function transactionOf(fact: PreparedFact, moment: Moment, clock: Clock): Transact {
  const settle = (value: unknown): readonly EntryBody[] => settlement(fact, value, moment);
  return (tx) => {
    const value = fact.apply(tx);
    return isThenable(value) ? inTime(Promise.resolve(value), fact, clock).then(settle) : settle(value);
  };
}

/** Also what is no Promise: the query of a builder does nothing until it is awaited. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

function settlement(fact: PreparedFact, value: unknown, { state, at }: Moment): readonly EntryBody[] {
  const ended = valueEnd(value);
  if (ended.settled.kind === "refused") throw new ToolFailure(`${ended.settled.message}; it was undone`); // X2
  const draft = openDraft(state, at);
  takeFact(draft, settledFact(fact, { ...ended, writes: fact.writes() }));
  return withAnswers(draft);
}

async function inTime(work: Promise<unknown>, { tool, timeoutMs }: PreparedFact, clock: Clock): Promise<unknown> {
  const within = await settleWithin(work, timeoutMs, { clock });
  if (within.kind === "value") return within.value;
  if (within.kind === "threw") throw within.cause;
  throw new ApplyTimeout(`apply of ${tool} did not end within ${timeoutMs} ms; it was undone`);
}

class ApplyTimeout extends Error {}

/** X2: the call's one result when its transaction was undone; undefined when that is not what was thrown. */
export function undoneFact(fact: PreparedFact, thrown: unknown): Fact | undefined {
  if (isHoldfastError(thrown, "not-transactional")) return refused(fact, "tool-failed", thrown.message);
  if (!isHoldfastError(thrown, "apply-failed")) return undefined;
  const { cause } = thrown;
  return refused(fact, cause instanceof ApplyTimeout ? "timed-out" : "tool-failed", messageOf(cause));
}

/** X3. */
export function notApplied(fact: PreparedFact): Fact {
  const result = errorResult("aborted", "The run was to end before this call was applied");
  return settledFact(fact, { settled: { kind: "aborted" }, result });
}

function refused(fact: PreparedFact, code: CallErrorCode, message: string): Fact {
  return settledFact(fact, { settled: { kind: "refused", code, message }, result: errorResult(code, message) });
}

function settledFact(
  { effect, attempt, call }: PreparedFact,
  ended: Pick<Extract<Fact, { kind: "tool-settled" }>, "settled" | "result" | "writes">,
): Fact {
  return { kind: "tool-settled", effect, attempt, call, ...ended };
}
