/**
 * The journal's rows: how they are read back. One row is one commit.
 *
 * J1 A row is only ever added by a statement that moves the run's head, checked against the head it expects.
 */
import type { Entry, EntryBody } from "../../domain/entry.ts";
import { readCommit } from "../../domain/upcast.ts";
import type { ReadRun } from "../../ports/store.ts";
import { stampEntries } from "../shared/stamp-entries.ts";
import type { Queries } from "./database.ts";

export interface JournalRow {
  readonly seq: number;
  readonly epoch: number | null;
  readonly time: number;
  readonly format: number;
  readonly body: string;
}

const owner = "(SELECT no FROM hf.runs WHERE scope = $1 AND id = $2)";

/** A limit of NULL is none. */
export const readAfter = `SELECT seq, epoch, time, format, body FROM hf.journal
  WHERE run = ${owner} AND seq + n > $3::bigint + 1
    AND seq >= coalesce((SELECT max(seq) FROM hf.journal WHERE run = ${owner} AND seq <= $3::bigint + 1), 0)
  ORDER BY seq LIMIT $4::bigint`;

/** Entries after a seq; the limit is in commits, null is none. */
export async function entriesAfter(
  db: Queries,
  range: Omit<ReadRun, "limit"> & { readonly limit: number | null },
): Promise<readonly Entry[]> {
  const { scope, run, after, limit } = range;
  const rows = await db.all<JournalRow>(readAfter, [scope, run, after, limit]);
  return rows.flatMap((row) => entriesIn(row).filter((entry) => entry.seq > after));
}

export function entriesIn(row: JournalRow): readonly Entry[] {
  return stampEntries(readCommit(row), { seq: row.seq, at: row.time, epoch: row.epoch });
}

export function bodyOf(entries: readonly EntryBody[]): string {
  return JSON.stringify(entries);
}
