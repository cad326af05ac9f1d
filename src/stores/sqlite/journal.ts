/**
 * The journal's rows: how they are written and read back. One row is one commit.
 *
 * J1 The fence, the expected seq and the insert are one statement: nothing can come between check and write.
 * J2 Gaplessness is that statement's work; the unique index alone would take overlapping commits.
 */
import type { Entry, EntryBody } from "../../domain/entry.ts";
import { entryFormat, readCommit } from "../../domain/upcast.ts";
import { stampEntries } from "../shared/stamp-entries.ts";
import type { Connection } from "./database.ts";
import type { Place } from "./places.ts";

export interface JournalRow {
  readonly seq: number;
  readonly epoch: number | null;
  readonly time: number;
  readonly format: number;
  readonly body: string;
}

export interface FencedRow {
  readonly epoch: number;
  readonly seq: number;
  readonly n: number;
  readonly time: number;
  readonly pos: number;
  readonly m: number;
  readonly body: string;
}

const columns = "seq, epoch, time, format, body";
/** Head of run ?2 of thread ?1. */
const nextSeq = "SELECT seq + n FROM journal WHERE thread = ?1 AND run = ?2 ORDER BY seq DESC LIMIT 1";

const insertFenced = `INSERT INTO journal (thread, run, seq, n, epoch, time, pos, m, format, body)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
  WHERE EXISTS (SELECT 1 FROM runs WHERE no = ?2 AND epoch = ?5 AND status <> 'done') AND (${nextSeq}) = ?3`;

const insertOutside = `INSERT INTO journal (thread, run, seq, n, epoch, time, pos, m, format, body)
  VALUES (?1, ?2, ?3, 1, NULL, ?4, NULL, 0, ?5, ?6)`;

const insertEnded = `INSERT INTO journal (thread, run, seq, n, epoch, time, pos, m, format, body)
  VALUES (?1, ?2, ?3, ?4, NULL, ?5, ?6, ?7, ?8, ?9)`;

/** False when the epoch or the head is another, or the run has ended. */
export function insertCommit(db: Connection, place: Place, row: FencedRow): boolean {
  const { epoch, seq, n, time, pos, m, body } = row;
  return db.run(insertFenced, place.thread, place.no, seq, n, epoch, time, pos, m, entryFormat, body) === 1;
}

/** Birth and the outside door: inside a transaction that has read the head. */
export function insertFact(
  db: Connection,
  place: Pick<Place, "no" | "thread">,
  row: Pick<FencedRow, "seq" | "time" | "body">,
): void {
  db.run(insertOutside, place.thread, place.no, row.seq, row.time, entryFormat, row.body);
}

/** The rest of an imported run, which no claim wrote. */
export function insertHistory(
  db: Connection,
  place: Pick<Place, "no" | "thread">,
  row: Omit<FencedRow, "epoch">,
): void {
  const { seq, n, time, pos, m, body } = row;
  db.run(insertEnded, place.thread, place.no, seq, n, time, pos, m, entryFormat, body);
}

export function headSeq(db: Connection, place: Pick<Place, "no" | "thread">): number {
  return (db.get<{ next: number }>(`SELECT (${nextSeq}) AS next`, place.thread, place.no)?.next ?? 1) - 1;
}

const readAfter = `SELECT ${columns} FROM journal
  WHERE thread = ?1 AND run = ?2 AND seq + n > ?3 + 1
    AND seq >= (SELECT max(seq) FROM journal WHERE thread = ?1 AND run = ?2 AND seq <= ?3 + 1)
  ORDER BY seq LIMIT ?4`;

/** Entries after a seq; the limit is in commits, -1 is none. */
export function entriesAfter(
  db: Connection,
  place: Place,
  range: { readonly after: number; readonly limit: number },
): readonly Entry[] {
  const { after, limit } = range;
  const rows = db.all<JournalRow>(readAfter, place.thread, place.no, after, limit);
  return rows.flatMap((row) => entriesIn(row).filter((entry) => entry.seq > after));
}

const readAt = `SELECT ${columns} FROM journal WHERE thread = ?1 AND run = ?2 AND seq <= ?3 ORDER BY seq DESC LIMIT 1`;

export function entryAt(db: Connection, place: Pick<Place, "no" | "thread">, seq: number): Entry | undefined {
  const row = db.get<JournalRow>(readAt, place.thread, place.no, seq);
  return row && entriesIn(row).find((entry) => entry.seq === seq);
}

export function entriesIn(row: JournalRow): readonly Entry[] {
  return stampEntries(readCommit(row), { seq: row.seq, at: row.time, epoch: row.epoch });
}

export function bodyOf(entries: readonly EntryBody[]): string {
  return JSON.stringify(entries);
}
