import type { PruneRuns } from "../../ports/thread-store.ts";

/** What ended before this time may go; exactly `agoMs` ago is long enough. */
export function endedBefore({ ended }: Pick<PruneRuns, "ended">, now: number): number {
  return "before" in ended ? ended.before : now - ended.agoMs + 1;
}
