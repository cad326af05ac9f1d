/**
 * P9 A clock that leaps forward makes every lease look old, also those of processes that are alive. Nothing is claimed for
 *    the time of one lease then: whoever lives has renewed by that time. Without this, two processes on one machine would
 *    take each other's runs, and `startBy` plus timeout, which the leap has passed too, would vouch for attempts that run.
 */
import type { Clock } from "../../ports/clock.ts";

export interface LeapOptions {
  readonly clock: Clock;
  readonly leaseMs: number;
}

/** How long nothing is to be claimed, in milliseconds; 0 unless the clock has leapt since it was asked before. */
export function createLeapWatch({ clock, leaseMs }: LeapOptions): () => number {
  const ahead = (): number => clock.now() - clock.monotonic();
  let last = ahead();
  let until = Number.NEGATIVE_INFINITY;
  return () => {
    const next = ahead();
    if (next - last > leaseMs / 4) until = clock.monotonic() + leaseMs;
    last = next;
    return Math.max(0, until - clock.monotonic());
  };
}
