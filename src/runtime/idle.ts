import type { RunRow } from "../ports/store.ts";

/** A waiting run that is already due counts as running: something is about to move it. */
export function isIdle(row: RunRow, now: number): boolean {
  return row.status === "done" || (row.status === "waiting" && (row.wake === undefined || row.wake > now));
}
