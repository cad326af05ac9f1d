/** Errors that every store words alike. */
import { HoldfastError } from "../../domain/errors.ts";
import type { RunKey } from "../../ports/store.ts";

/** What a write at the worker door claims to know: checked before anything else. */
export interface Expectation extends RunKey {
  readonly epoch: number;
  readonly expectedSeq: number;
}

export function journalRegressed(expected: Expectation, head: number): HoldfastError {
  const { run, expectedSeq } = expected;
  return new HoldfastError(
    "journal-regressed",
    `Run ${run} was folded up to ${expectedSeq}, but the journal ends at ${head}`,
    {
      details: { run, expectedSeq, head },
    },
  );
}

export function afterTheEnd(run: string): HoldfastError {
  return new HoldfastError("illegal-transition", `Run ${run} has ended: nothing follows run-ended`);
}

export function emptyCommit(run: string): HoldfastError {
  return new HoldfastError("illegal-transition", `Run ${run}: a commit without entries`);
}

export function unfitSuccessor(run: string, why: string): HoldfastError {
  return new HoldfastError("illegal-transition", `Run ${run} cannot have this successor: ${why}`);
}

export function ticketTaken(ticket: string): HoldfastError {
  return new HoldfastError("illegal-transition", `Ticket ${ticket} was opened before`);
}

export function ticketNotOpen(ticket: string): HoldfastError {
  return new HoldfastError("illegal-transition", `Ticket ${ticket} is not open: it is decided at most once`);
}

export function inputNotUnread(input: string): HoldfastError {
  return new HoldfastError("illegal-transition", `Input ${input} is not unread: it is taken at most once`);
}

export function notItsThread(run: string): HoldfastError {
  return new HoldfastError("illegal-transition", `Run ${run} is queued: only a thread's active run changes its state`);
}

export function noSuchRun(key: RunKey): HoldfastError {
  return new HoldfastError("run-not-found", `Run ${key.run} is not in scope ${key.scope}`, { details: { ...key } });
}

export function runTaken(run: string): HoldfastError {
  return new HoldfastError("run-exists", `There is already a run ${run}`, { details: { run } });
}

export function startKeyTaken(key: string, run: string): HoldfastError {
  return new HoldfastError("start-key-conflict", `Key ${key} started run ${run}`, { details: { key, run } });
}

export function storeClosed(): HoldfastError {
  return new HoldfastError("store-closed", "The store was closed");
}

export function notTransactional(run: string): HoldfastError {
  const message = `Run ${run}: this store has no transactions to hand to a tool; nothing was written`;
  return new HoldfastError("not-transactional", message);
}

/** S12. */
export function applyFailed(why: string, cause: unknown): HoldfastError {
  return new HoldfastError("apply-failed", `${why}; its transaction was undone`, { cause });
}
