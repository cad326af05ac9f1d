/** What a birth says about when and in which order its run is claimed: one pure answer for every store (S13). */
import type { Birth } from "../../ports/birth.ts";

export interface FirstDue {
  readonly priority: number;
  /** Since when it may start, as soon as it has its thread. */
  readonly ready: number;
  /** A run that cannot start ends at its deadline. */
  readonly wake: number | undefined;
}

export function firstDue({ entry }: Birth, now: number): FirstDue {
  const { priority = 0, startAt = now, deadlineAt } = entry;
  return { priority, ready: Math.max(now, startAt), wake: deadlineAt };
}
