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
import type { StoreFigures } from "../../ports/store-figures.ts";
import type { Queries } from "./database.ts";
import { entriesIn, type JournalRow } from "./journal.ts";
import { createFindHorizon, findHolder, type Horizon } from "./positions.ts";

/** The run of each row is looked up by itself: the walk keeps to its index. */
function walkTail({ agent, thread }: ReadAll): { readonly sql: string; readonly filters: readonly string[] } {
  const asked = [
    ["agent", agent],
    ["thread_id", thread],
  ].filter((pair): pair is [string, string] => pair[1] !== undefined);
  const wanted = asked.map(([column], index) => `AND ${column} = $${index + 5}`).join(" ");
  const sql = `SELECT at, owner.id, owner.thread_id, owner.agent, seq, epoch, time, format, body
    FROM hf.journal CROSS JOIN LATERAL (
      SELECT id, thread_id, agent FROM hf.runs WHERE no = journal.run ${wanted} LIMIT 1) AS owner
    WHERE scope = $1 AND at > $2 AND at <= $3 ORDER BY at LIMIT $4`;
  return { sql, filters: asked.map(([, value]) => value) };
}

const walkThread = `WITH page AS MATERIALIZED (
    SELECT owner.id, owner.thread_id, owner.agent, run, seq, at
    FROM hf.runs AS owner CROSS JOIN LATERAL (SELECT run, seq, at FROM hf.journal WHERE run = owner.no OFFSET 0) AS row
    WHERE owner.thread = (SELECT no FROM hf.threads WHERE scope = $1 AND id = $6)
      AND ($5::text IS NULL OR owner.agent = $5) AND at > $2 AND at <= $3
    ORDER BY at LIMIT $4
  )
  SELECT page.at, id, thread_id, agent, page.seq, epoch, time, format, body
  FROM page CROSS JOIN LATERAL (
    SELECT epoch, time, format, body FROM hf.journal WHERE run = page.run AND seq = page.seq LIMIT 1) AS row
  ORDER BY at`;

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
  pulse(db: Queries): Promise<string>;
  lag(db: Queries): Promise<Pick<StoreFigures, "hidden" | "hiddenMs">>;
}

export function createFeed(schema: string, logger: Logger): Feed {
  const find = createFindHorizon(schema);
  const holder = findHolder(schema);
  const stillness = createStillness(logger);
  async function horizonOf(db: Queries): Promise<Horizon> {
    const found = await find(db);
    stillness.note(found);
    return found;
  }
  return {
    async readAll(db, request) {
      const { scope, after, limit, thread, agent } = request;
      const { horizon } = await horizonOf(db);
      const isFar = thread !== undefined && horizon - after > tailRows;
      const { sql, filters } = isFar ? { sql: walkThread, filters: [agent ?? null, thread] } : walkTail(request);
      const rows = await db.all<Found>(sql, [scope, after, horizon, limit, ...filters]);
      return rows.map((row) => committedRow(row, scope));
    },
    head: async (db) => (await horizonOf(db)).horizon,
    async pulse(db) {
      const { newest, open } = await horizonOf(db);
      return `${newest} ${open}`;
    },
    async lag(db) {
      const found = await db.get<Omit<Horizon, "open"> & { readonly ms: number | null }>(holder);
      if (!found || found.horizon === found.newest) return { hidden: 0, hiddenMs: 0 };
      return { hidden: found.newest - found.horizon, hiddenMs: Math.max(found.ms ?? 0, stillness.note(found)) };
    },
  };
}

function committedRow(row: Found, scope: Scope): CommittedRow {
  const { id: run, thread_id: thread, agent, at: position } = row;
  return { scope, run, thread, agent, position, entries: entriesIn(row) };
}

const longLagMs = 5_000;

interface Stillness {
  /** Answers for how many milliseconds the horizon has been seen at this place. */
  note(found: Omit<Horizon, "open">): number;
}

/** A3. */
function createStillness(logger: Logger): Stillness {
  let still: { readonly horizon: number; readonly since: number; isTold: boolean } | undefined;
  return {
    note({ horizon, newest }) {
      if (horizon === newest) still = undefined;
      else if (still?.horizon !== horizon) still = { horizon, since: performance.now(), isTold: false };
      if (!still) return 0;
      const ms = Math.floor(performance.now() - still.since);
      if (still.isTold || ms < longLagMs) return ms;
      still.isTold = true;
      const seconds = ms / 1_000;
      logger.warn("Watching many runs lags: a transaction of this store is still open", { horizon, newest, seconds });
      return ms;
    },
  };
}
