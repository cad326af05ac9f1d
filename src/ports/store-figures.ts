/**
 * What a store can tell about itself without being disturbed.
 *
 * F1 The count of due runs stops at `mostDue + 1`, which stands for more: it costs index entries, never a walk over a table.
 * F2 Commits are those of this open store since it was opened, each counted once its caller is told; the rest is of the
 *    data, whoever wrote it.
 * F3 It writes nothing and waits for no writer.
 */
import type { Scope } from "../domain/ids.ts";

/** So many due runs are counted. */
export const mostDue = 10_000;

export interface FiguresRequest {
  readonly scope: Scope;
  /** Only runs of these agents; of every agent unless said. */
  readonly agents?: readonly string[];
}

export interface StoreFigures {
  /** Runs that a claim would find now. */
  readonly due: number;
  /** How long the first of them has been due, in milliseconds of store time. */
  readonly dueMs: number;
  /** Commits that were written, the transactions that held any, and the most that shared one. */
  readonly commits: number;
  readonly groups: number;
  readonly largestGroup: number;
  /** Positions that are given and not yet shown to readers of many runs: some transaction that began before is still open. */
  readonly hidden: number;
  /** For how long, in milliseconds. */
  readonly hiddenMs: number;
}
