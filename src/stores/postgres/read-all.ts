/**
 * The journal over many runs, in the order of positions.
 *
 * A1 Rows above the horizon are not shown, though they are there: see positions.ts.
 * A2 A read of a scope walks its own part of one index. Far from the newest row, a read of a thread collects the thread's
 *    rows through its runs instead (no bodies), sorts them, and reads the bodies of the page.
 * A3 A horizon that stands still while numbers are drawn is told to the operator: some transaction of this store hangs.
 */
import type { RunId, Scope, ThreadId } from "../../domain/ids.ts";
import type { Logger } from "../../ports/logger.ts";
import type { CommittedRow, ReadAll } from "../../ports/store.ts";
import type { Queries } from "./database.ts";
import { entriesIn, type JournalRow } from "./journal.ts";
import { createFindHorizon, type FindHorizon, type Horizon } from "./positions.ts";

const columns = "at, runs.id, runs.thread_id, runs.agent, seq, journal.epoch, time, format, body";

const walkTail = `SELECT ${columns} FROM hf.journal JOIN hf.runs ON runs.no = journal.run
  WHERE journal.scope = $1 AND at > $2 AND at <= $3 AND runs.agent = coalesce($5, runs.agent)
    AND runs.thread_id = coalesce($6, runs.thread_id)
  ORDER BY at LIMIT $4`;

const walkThread = `WITH page AS MATERIALIZED (
    SELECT runs.id, runs.thread_id, runs.agent, journal.run, seq, at
    FROM hf.runs JOIN hf.journal ON journal.run = runs.no
    WHERE runs.thread = (SELECT no FROM hf.threads WHERE scope = $1 AND id = $6) AND runs.agent = coalesce($5, runs.agent)
      AND at > $2 AND at <= $3
    ORDER BY at LIMIT $4
  )
  SELECT page.at, id, thread_id, agent, page.seq, epoch, time, format, body
  FROM page JOIN hf.journal ON journal.run = page.run AND journal.seq = page.seq ORDER BY at`;

/** So many positions are walked sooner than a long thread is sorted. */
const tailRows = 1_000;

interface Found extends JournalRow {
  readonly at: number;
  readonly id: RunId;
  readonly thread_id: ThreadId;
  readonly agent: string;
}

export interface Feed {
  readAll(db: Queries, request: ReadAll): Promise<readonly CommittedRow[]>;
  head(db: Queries): Promise<number>;
}

export function createFeed(schema: string, logger: Logger): Feed {
  const horizonOf = watched(createFindHorizon(schema), logger);
  return {
    async readAll(db, request) {
      const { scope, after, limit, thread = null, agent = null } = request;
      const { horizon } = await horizonOf(db);
      const isFar = thread !== null && horizon - after > tailRows;
      const values = [scope, after, horizon, limit, agent, thread];
      const rows = await db.all<Found>(isFar ? walkThread : walkTail, values);
      return rows.map((row) => committedRow(row, scope));
    },
    head: async (db) => (await horizonOf(db)).horizon,
  };
}

function committedRow(row: Found, scope: Scope): CommittedRow {
  const { id: run, thread_id: thread, agent, at: position } = row;
  return { scope, run, thread, agent, position, entries: entriesIn(row) };
}

const longLagMs = 5_000;

/** A3. */
function watched(find: FindHorizon, logger: Logger): FindHorizon {
  let still: { readonly horizon: number; readonly since: number; isTold: boolean } | undefined;
  function note({ horizon, newest }: Horizon): void {
    if (horizon === newest || still?.horizon !== horizon) {
      still = horizon === newest ? undefined : { horizon, since: performance.now(), isTold: false };
      return;
    }
    const seconds = (performance.now() - still.since) / 1_000;
    if (still.isTold || seconds * 1_000 < longLagMs) return;
    still.isTold = true;
    logger.warn("Watching many runs lags: a transaction of this store is still open", { horizon, newest, seconds });
  }
  return async (db) => {
    const found = await find(db);
    note(found);
    return found;
  };
}
