/** A run in the hands of the loop: what it knows, and what has happened that is not committed yet. */
import { fold } from "../domain/apply.ts";
import type { Entry } from "../domain/entry.ts";
import type { RunState } from "../domain/run-state.ts";
import type { HeldClaim } from "../ports/dispatcher.ts";
import type { Claim } from "../ports/store.ts";
import type { EngineDeps } from "./deps.ts";
import type { Circumstances } from "./draft.ts";
import type { Facts } from "./facts.ts";
import type { Loaded } from "./load.ts";
import type { Fact, PreparedFact } from "./work.ts";

export interface Running {
  readonly held: HeldClaim;
  readonly claim: Claim;
  readonly deps: EngineDeps;
  readonly facts: Facts;
  readonly loaded: Loaded;
  state: RunState;
  /** Taken, not yet committed. */
  offered: readonly Fact[];
  /** Transactional calls that wait for their commit. */
  prepared: readonly PreparedFact[];
  /** The highest seq we were told of. */
  moved: number;
  /** Seq of the newest snapshot; a run of many short claims gets one too. */
  snapshotSeq: number;
  /** The last decision was made knowing that the process wants to go. */
  knowsLeaving: boolean;
}

export function circumstances(running: Running): Circumstances {
  const { held, claim, deps } = running;
  const elapsed = deps.clock.monotonic();
  running.knowsLeaving = held.leaving.aborted;
  return {
    now: Math.max(deps.clock.now(), held.storeNow()), // what is due by store time is due, however late our clock is
    elapsed,
    beginBy: elapsed + held.timeLeft() - deps.startMarginMs,
    leaving: running.knowsLeaving,
    epoch: claim.epoch,
    startBy: held.leaseUntil() - deps.startMarginMs,
    mayStart: claim.mayStart,
    crashes: claim.crashes,
    capable: deps.agent(claim.agent) !== undefined,
    threadPosition: claim.threadPosition,
    limits: deps.limits,
    hash: deps.hash,
    spec: (tool) => deps.agent(claim.agent)?.tools.spec(tool),
  };
}

export function takeEntries(running: Running, entries: readonly Entry[]): void {
  const fresh = entries.filter((entry) => entry.seq > running.state.seq);
  running.state = fold(running.state, fresh);
  for (const entry of fresh) running.loaded.transcript.take(entry);
}
