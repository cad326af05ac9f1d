/**
 * The only caller of store.commit and store.release; then it tells the bus.
 *
 * C1 One commit of a run at a time: the loop awaits each.
 * C2 After an unknown outcome the row at expectedSeq + 1 is mine iff its epoch is mine; nothing is written blindly again.
 *    It may appear late, when the commit is tried again: `behind` a row of my epoch is that commit, for C1 leaves no other.
 *    Who has lost the lease tries no more: whoever comes next finds what was written.
 * C3 The bus hears of a commit only after it (L6); a deaf bus stops nothing.
 */
import type { Entry, EntryBody } from "../domain/entry.ts";
import { isHoldfastError } from "../domain/errors.ts";
import type { Hint } from "../ports/bus.ts";
import type { Commit, CommitAnswer, Release, RunKey } from "../ports/store.ts";
import type { EngineDeps } from "./deps.ts";
import { readAfter } from "./load.ts";
import { breathe, type Patience, persist } from "./retry.ts";

export type Written =
  | { readonly kind: "committed"; readonly entries: readonly Entry[] }
  | Exclude<CommitAnswer, { kind: "committed" }>;

export async function commit(what: Commit, deps: EngineDeps, signal: AbortSignal): Promise<Written> {
  const made = remembered(what);
  const answer = await certain(what, deps, { signal, call: () => deps.store.commit(made.commit) });
  if (answer.kind !== "committed") return answer;
  const entries = answer.entries ?? stamp({ ...what, entries: made.entries() }, answer.at);
  tell(what, entries, deps);
  const born = what.successor?.entry.identity;
  if (born) publish({ scope: born.scope, run: born.run, seq: 1 }, deps);
  return { kind: "committed", entries };
}

/** What a transaction answers is known only once it has run; of several tries the last is the one that was committed. */
function remembered(what: Commit): { readonly commit: Commit; readonly entries: () => readonly EntryBody[] } {
  const { transaction } = what;
  if (!transaction) return { commit: what, entries: () => what.entries };
  let last = what.entries;
  const keep = (entries: readonly EntryBody[]): readonly EntryBody[] => {
    last = entries;
    return entries;
  };
  const run = (tx: unknown): ReturnType<typeof transaction> => {
    const entries = transaction(tx);
    return entries instanceof Promise ? entries.then(keep) : keep(entries);
  };
  return { commit: { ...what, transaction: run }, entries: () => last };
}

export async function release(what: Release, deps: EngineDeps, signal: AbortSignal): Promise<CommitAnswer> {
  // A release writes no entry to find again; repeating it is harmless.
  const answer = await certain(what, deps, { signal, call: () => deps.store.release(what) });
  // It adds nothing, but whoever waits for the run to rest has to look again.
  if (answer.kind === "committed") publish({ scope: what.scope, run: what.run, seq: what.expectedSeq }, deps);
  return answer;
}

async function certain(
  what: Release,
  deps: EngineDeps,
  attempt: { readonly signal: AbortSignal; readonly call: () => Promise<CommitAnswer> },
): Promise<Certain> {
  const patience: Patience = { clock: deps.clock, logger: deps.logger, signal: attempt.signal };
  try {
    for (let unknown = 0; ; unknown += 1) {
      try {
        return counted(mine(what, await persist(`Commit of run ${what.run}`, patience, attempt.call)), deps);
      } catch (cause) {
        if (!isHoldfastError(cause, "commit-unknown")) throw cause;
        const found = await persist(`Reading run ${what.run}`, patience, () => findAgain(what, deps));
        if (found) return counted(found, deps);
        if (unknown > 0) await breathe(unknown, patience); // a disk that fails each time is given time
        if (attempt.signal.aborted) return { kind: "fenced" };
      }
    }
  } catch (cause) {
    if (attempt.signal.aborted && isHoldfastError(cause) && cause.retry === "later") return { kind: "fenced" };
    throw cause;
  }
}

/** With the entries where they were read again. */
type Certain =
  | { readonly kind: "committed"; readonly at: number; readonly entries?: readonly Entry[] }
  | Exclude<CommitAnswer, { kind: "committed" }>;

function counted(answer: Certain, { counts }: EngineDeps): Certain {
  if (answer.kind === "fenced") counts.fencedWrites += 1;
  if (answer.kind === "behind") counts.behindAnswers += 1;
  return answer;
}

/** C2. */
function mine(what: Release, answer: CommitAnswer): Certain {
  if (answer.kind !== "behind") return answer;
  const [first] = answer.entries;
  return first?.epoch === what.epoch ? ownCommit(first, answer.entries) : answer;
}

/** Facts that came in after it are found by the next commit. */
function ownCommit(first: Entry, entries: readonly Entry[]): Certain {
  const own = entries.filter((entry) => entry.epoch === first.epoch);
  return { kind: "committed", at: first.at, entries: own };
}

async function findAgain(what: Release, deps: EngineDeps): Promise<Certain | undefined> {
  const row = await deps.store.run(what);
  if (!row || row.epoch !== what.epoch) return { kind: "fenced" };
  const entries = await readAfter(what, what.expectedSeq, deps.store);
  const [first] = entries;
  return first && mine(what, { kind: "behind", entries });
}

/** C3. */
function tell(key: RunKey, entries: readonly Entry[], deps: EngineDeps): void {
  publish({ scope: key.scope, run: key.run, seq: entries.at(-1)?.seq ?? 0, entries }, deps);
}

function publish(hint: Hint, deps: EngineDeps): void {
  deps.bus.publish(hint).catch((cause: unknown) => {
    deps.logger.warn(`The bus did not take a hint for run ${hint.run}`, { cause: String(cause) });
  });
}

function stamp({ entries, expectedSeq, epoch }: Commit, at: number): readonly Entry[] {
  return entries.map((body, index) => ({ seq: expectedSeq + 1 + index, at, epoch, ...body }));
}
