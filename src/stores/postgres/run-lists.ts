/**
 * Pages and counts of runs.
 *
 * R1 A page walks one index in the order of creation: by parent its children, by thread the thread's runs, by status or agent the runs of it, else
 *    the scope's. A second filter is tried on each row of that walk.
 * R2 A count walks the same index and costs what it counts.
 */
import type { RunId, ThreadId } from "../../domain/ids.ts";
import type { RunStatus } from "../../domain/run.ts";
import type { ListedRun, RunFilter, RunList } from "../../ports/thread-store.ts";
import type { Queries } from "./database.ts";

interface StoredRun {
  readonly no: number;
  readonly id: RunId;
  readonly thread_id: ThreadId;
  readonly agent: string;
  readonly status: RunStatus;
  readonly queued: boolean;
  readonly head: number;
  readonly created_at: number;
  readonly parent_run: RunId | null;
}

export async function listRuns(db: Queries, list: RunList): Promise<readonly ListedRun[]> {
  const { sql, values } = runPage(list);
  return (await db.all<StoredRun>(sql, [...values, list.limit])).map((row) => ({
    no: row.no,
    run: row.id,
    thread: row.thread_id,
    agent: row.agent,
    status: row.status,
    queued: row.queued,
    head: row.head,
    createdAt: row.created_at,
    ...(row.parent_run === null ? {} : { parent: row.parent_run }),
  }));
}

interface Query {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** One statement per combination of filters, each prepared once. The limit is the last parameter. */
export function runPage(list: Omit<RunList, "limit">): Query {
  const { where, values } = conditions(list);
  const { order, after } = list;
  const isOldest = order === "oldest";
  const place = after === undefined ? "" : `AND no ${isOldest ? ">" : "<"} $${values.length + 1}`;
  const all = after === undefined ? values : [...values, after];
  return {
    sql: `SELECT no, id, thread_id, agent, status, queued, head, created_at, parent_run FROM hf.runs WHERE ${where} ${place}
      ORDER BY no ${isOldest ? "" : "DESC"} LIMIT $${all.length + 1}`,
    values: all,
  };
}

export async function countRuns(db: Queries, filter: RunFilter): Promise<number> {
  const { where, values } = conditions(filter);
  const row = await db.get<{ count: number }>(`SELECT count(*) AS count FROM hf.runs WHERE ${where}`, values);
  return row?.count ?? 0;
}

function conditions(filter: RunFilter): { readonly where: string; readonly values: readonly string[] } {
  const { scope, thread, parent, agent, status } = filter;
  const asked = [
    ["scope = ?", scope],
    ["thread = (SELECT no FROM hf.threads WHERE scope = $1 AND id = ?)", thread],
    ["parent_run = ?", parent],
    ["agent = ?", agent],
    ["status = ?", status],
  ].filter((pair): pair is [string, string] => pair[1] !== undefined);
  const where = asked.map(([sql], index) => sql.replace("?", `$${index + 1}`)).join(" AND ");
  return { where, values: asked.map(([, value]) => value) };
}
