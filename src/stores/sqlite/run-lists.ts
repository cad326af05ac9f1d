/**
 * Pages and counts of runs.
 *
 * R1 A page walks one index in the order of creation: by parent its children, by thread the thread's runs, by status the runs of that status, by
 *    agent the runs of that agent, else the scope's. A second filter is tried on each row of that walk. Of agent and
 *    status the one that is rarer in a store that has grown leads: done runs are found through their agent.
 * R2 A count walks the same index and costs what it counts.
 */
import type { SQLInputValue } from "node:sqlite";
import type { RunId, ThreadId } from "../../domain/ids.ts";
import type { RunStatus } from "../../domain/run.ts";
import type { ListedRun, RunFilter, RunList } from "../../ports/thread-store.ts";
import type { Connection } from "./database.ts";

interface StoredRun {
  readonly no: number;
  readonly id: RunId;
  readonly thread_id: ThreadId;
  readonly agent: string;
  readonly status: RunStatus;
  readonly queued: number;
  readonly head: number;
  readonly created_at: number;
  readonly parent_run: RunId | null;
}

const columns = `no, id, thread_id, agent, status, queued, created_at, parent_run,
  (SELECT seq + n - 1 FROM journal WHERE thread = runs.thread AND run = runs.no ORDER BY seq DESC LIMIT 1) AS head`;

export function listRuns(db: Connection, list: RunList): readonly ListedRun[] {
  const { sql, values } = pageOf(list);
  return db.all<StoredRun>(sql, ...values, list.limit).map((row) => ({
    no: row.no,
    run: row.id,
    thread: row.thread_id,
    agent: row.agent,
    status: row.status,
    queued: row.queued === 1,
    head: row.head,
    createdAt: row.created_at,
    ...(row.parent_run === null ? {} : { parent: row.parent_run }),
  }));
}

interface Query {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

export function pageOf(list: Omit<RunList, "limit">): Query {
  const { sql, values } = chosen(list);
  const { order, after } = list;
  const isOldest = order === "oldest";
  const place = after === undefined ? "" : `AND no ${isOldest ? ">" : "<"} ?`;
  return {
    sql: `SELECT ${columns} FROM runs ${sql} ${place} ORDER BY no ${isOldest ? "" : "DESC"} LIMIT ?`,
    values: after === undefined ? values : [...values, after],
  };
}

export function countRuns(db: Connection, filter: RunFilter): number {
  const { sql, values } = chosen(filter);
  return db.get<{ count: number }>(`SELECT count(*) AS count FROM runs ${sql}`, ...values)?.count ?? 0;
}

/** The index, and what is asked of its rows. */
function chosen(filter: RunFilter): Query {
  const { scope, thread, parent, agent, status } = filter;
  const owner = "thread = (SELECT no FROM threads WHERE scope = ? AND id = ?)";
  const byThread = { sql: owner, values: [scope, thread ?? null] };
  const lead = thread === undefined || parent !== undefined ? { sql: "scope = ?", values: [scope] } : byThread;
  const asked = [
    lead,
    ...(parent === undefined ? [] : [{ sql: "parent_run = ?", values: [parent] }]),
    ...(parent === undefined || thread === undefined ? [] : [byThread]),
    ...(agent === undefined ? [] : [{ sql: "agent = ?", values: [agent] }]),
    ...(status === undefined ? [] : [{ sql: "status = ?", values: [status] }]),
  ];
  const where = asked.map((each) => each.sql).join(" AND ");
  return { sql: `INDEXED BY ${indexOf(filter)} WHERE ${where}`, values: asked.flatMap((each) => each.values) };
}

function indexOf({ thread, parent, agent, status }: RunFilter): string {
  if (parent !== undefined) return "runs_by_parent";
  if (thread !== undefined) return "runs_by_thread";
  if (status !== undefined && (agent === undefined || status !== "done")) return "runs_by_status";
  return agent === undefined ? "runs_by_scope" : "runs_by_agent";
}
