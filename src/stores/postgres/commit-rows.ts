/**
 * Commits of many runs as one statement: check, move the head, change the run's row, add to the journal.
 *
 * C1 Epoch, head and end are checked on the row as it is locked, by the same statement that writes: nothing can come
 *    between check and write. Zero rows means that nothing was written.
 * C2 The statement never waits for a row. Alone it leaves out what someone else holds; in a group the rows are held.
 * C3 A run is in it once.
 */
import type { RowChanges } from "../../domain/row-changes.ts";
import type { RunStatus } from "../../domain/run.ts";
import { entryFormat } from "../../domain/upcast.ts";
import type { Commit } from "../../ports/store.ts";
import { type Access, storeTime } from "./access.ts";
import type { Queries } from "./database.ts";
import { announcement } from "./positions.ts";

export interface PreparedCommit {
  readonly commit: Commit;
  readonly changes: RowChanges;
  readonly body: string;
}

/** The run as it was when the statement locked it, and when its commit was written, if it was. */
export interface CommitRow {
  readonly no: number | null;
  readonly thread: number;
  readonly epoch: number;
  readonly head: number;
  readonly status: RunStatus;
  readonly time: number | null;
}

export function insertCommits(schema: string): string {
  return `WITH gate AS MATERIALIZED (SELECT ${announcement(schema)} IS NULL AS announced),
  wanted AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::integer[], $6::bigint[], $7::integer[],
      $8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::boolean[]) WITH ORDINALITY
      AS wanted (scope, id, epoch, expected, n, pos, m, body, status, wake, start_pos, progressed, ord)
  ),
  held AS MATERIALIZED (
    SELECT runs.no, runs.thread, runs.epoch, runs.head, runs.status, wanted.ord
    FROM gate CROSS JOIN wanted JOIN hf.runs ON runs.scope = wanted.scope AND runs.id = wanted.id
    ORDER BY runs.no FOR NO KEY UPDATE OF runs SKIP LOCKED
  ),
  moved AS (
    UPDATE hf.runs SET head = wanted.expected + wanted.n, placed = wanted.pos + wanted.m,
      crashes = CASE WHEN wanted.progressed THEN 0 ELSE runs.crashes END,
      start_pos = coalesce(wanted.start_pos, runs.start_pos),
      status = coalesce(wanted.status, runs.status),
      wake = CASE WHEN wanted.status IS NULL THEN runs.wake ELSE wanted.wake END,
      lease_until = CASE WHEN wanted.status IN ('waiting', 'done') THEN NULL ELSE runs.lease_until END,
      ended_at = CASE wanted.status WHEN 'done' THEN ${storeTime("$13")} END
    FROM held JOIN wanted USING (ord)
    WHERE runs.no = held.no AND runs.epoch = wanted.epoch AND runs.head = wanted.expected AND runs.status <> 'done'
      AND wanted.n > 0
    RETURNING runs.no, wanted.ord
  ),
  added AS (
    INSERT INTO hf.journal (at, scope, run, seq, n, epoch, time, pos, m, format, body)
    SELECT nextval('hf.positions'), scope, no, expected + 1, n, epoch, ${storeTime("$13")}, pos, m, ${entryFormat}, body
    FROM (SELECT wanted.*, moved.no FROM moved JOIN wanted USING (ord) ORDER BY ord) AS taken
    RETURNING run, time
  )
  SELECT held.no, held.thread, held.epoch, held.head, held.status, added.time
  FROM wanted LEFT JOIN held USING (ord) LEFT JOIN added ON added.run = held.no ORDER BY ord`;
}

/** One answer per commit, in their order. */
export function writeRows(db: Queries, access: Access, all: readonly PreparedCommit[]): Promise<readonly CommitRow[]> {
  return db.all<CommitRow>(access.insertCommits, [...columnsOf(all), access.time()]);
}

function columnsOf(all: readonly PreparedCommit[]): readonly (readonly unknown[])[] {
  const rows = all.map(({ commit, changes, body }) => [
    commit.scope,
    commit.run,
    commit.epoch,
    commit.expectedSeq,
    commit.entries.length,
    commit.position,
    changes.messages,
    body,
    changes.status ?? null,
    changes.status === "done" ? null : (commit.wake ?? null),
    changes.startPosition ?? null,
    changes.progressed,
  ]);
  return Array.from({ length: 12 }, (_, column) => rows.map((row) => row[column]));
}
