/** A run in the hand of this process: what the engine sees of its claim, and what the dispatcher can do to it. */
import type { RunId, Scope } from "../../domain/ids.ts";
import type { Clock } from "../../ports/clock.ts";
import type { HeldClaim } from "../../ports/dispatcher.ts";
import type { Claim } from "../../ports/store.ts";

export interface Taken {
  readonly claim: Claim;
  /** By this process's own count, before it was asked for. */
  readonly asked: number;
}

/** By this process's own count: before the lease was asked for, and when the answer was there. */
interface LeaseTimes {
  readonly asked: number;
  readonly answered: number;
}

/** Between the dispatcher and one claim. */
export interface Grip {
  readonly holding: HeldClaim;
  readonly lose: () => void;
  readonly leave: () => void;
  readonly moved: (seq: number) => void;
  readonly renewed: (leaseUntil: number, times: LeaseTimes) => void;
}

export interface Held extends Grip {
  readonly done: Promise<void>;
  renewing: Promise<void> | undefined;
}

/** Ids have no control characters, so the pair cannot be read in two ways. */
export function handKey({ scope, run }: { readonly scope: Scope; readonly run: RunId }): string {
  return `${scope}\n${run}`;
}

export function grip({ claim, asked }: Taken, { clock, leaseMs }: { clock: Clock; leaseMs: number }): Grip {
  const lost = new AbortController();
  const leaving = new AbortController(); // its own: listeners on one that lives as long as the process would pile up
  let { leaseUntil } = claim;
  let times: LeaseTimes = { asked, answered: clock.monotonic() };
  let listener: ((seq: number) => void) | undefined;
  let seen = 0;
  return {
    holding: {
      claim,
      leaseUntil: () => leaseUntil,
      timeLeft: () => times.asked + leaseMs - clock.monotonic(),
      storeNow: () => Math.floor(leaseUntil - leaseMs + (clock.monotonic() - times.answered)),
      lost: lost.signal,
      leaving: leaving.signal,
      onMoved: (next) => {
        listener = next;
        if (seen > 0) next(seen);
      },
    },
    lose: () => lost.abort(),
    leave: () => leaving.abort("closing"),
    moved: (seq) => {
      seen = Math.max(seen, seq);
      listener?.(seq);
    },
    renewed: (until, renewedAt) => {
      leaseUntil = until;
      times = renewedAt;
    },
  };
}
