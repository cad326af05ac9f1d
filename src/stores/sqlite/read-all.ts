/**
 * The journal over many runs, in the order of commits.
 *
 * A1 The journal has no index by scope: each one would be a page more in every commit. So a read of a scope or an agent
 *    walks the rows after `after`, those of other scopes too, and looks up the run of each; bodies are read of its own only.
 * A2 A read of a thread walks the thread's part of the journal's one index (no bodies), sorts what is after `after` by
 *    position, and reads the bodies of the page. It sees no other thread, but all of its own.
 * A3 Near the newest row every read walks the tail, which is then shorter than any thread.
 */
import type { RunId, Scope, ThreadId } from "../../domain/ids.ts";
import type { CommittedRow, ReadAll } from "../../ports/store.ts";
import type { Connection } from "./database.ts";
import { entriesIn, type JournalRow } from "./journal.ts";

/** The newest position ever used; an erasure keeps it in a row of its own. */
export function headPosition(db: Connection): number {
  return db.get<{ head: number | null }>("SELECT max(at) AS head FROM journal")?.head ?? 0;
}

const columns = "at, runs.id, runs.thread_id, runs.agent, seq, journal.epoch, time, format, body";

const walkTail = `SELECT ${columns} FROM journal CROSS JOIN runs ON runs.no = journal.run
  WHERE at > ?1 AND runs.scope = ?2 AND runs.agent = coalesce(?4, runs.agent) AND runs.thread_id = coalesce(?5, runs.thread_id)
  ORDER BY at LIMIT ?3`;

const walkThread = `SELECT ${columns} FROM journal CROSS JOIN runs ON runs.no = journal.run
  WHERE at IN (
    SELECT at FROM runs INDEXED BY runs_by_thread CROSS JOIN journal INDEXED BY journal_by_run
      ON journal.thread = runs.thread AND journal.run = runs.no
    WHERE runs.thread = (SELECT no FROM threads WHERE scope = ?2 AND id = ?5)
      AND runs.agent = coalesce(?4, runs.agent) AND at > ?1
    ORDER BY at LIMIT ?3)
  ORDER BY at`;

/** So many rows are walked sooner than a long thread is sorted. */
const tailRows = 1_000;

interface Found extends JournalRow {
  readonly at: number;
  readonly id: RunId;
  readonly thread_id: ThreadId;
  readonly agent: string;
}

export function readAll(db: Connection, request: ReadAll): readonly CommittedRow[] {
  const { scope, after, limit, thread, agent } = request;
  const isFar = thread !== undefined && headPosition(db) - after > tailRows;
  const rows = db.all<Found>(isFar ? walkThread : walkTail, after, scope, limit, agent ?? null, thread ?? null);
  return rows.map((row) => committedRow(row, scope));
}

function committedRow(row: Found, scope: Scope): CommittedRow {
  const { id: run, thread_id: thread, agent, at: position } = row;
  return { scope, run, thread, agent, position, entries: entriesIn(row) };
}
