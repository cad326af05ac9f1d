/**
 * Thread rows: one thread, pages of threads, title and metadata.
 *
 * T1 A page walks one index in the order of creation and reads, per thread, its active run, its newest run and its queue:
 *    it costs its length, whatever the table holds (H2).
 */
import type { RunId, ThreadId } from "../../domain/ids.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { RunStatus } from "../../domain/run.ts";
import type { ThreadChange, ThreadKey, ThreadList, ThreadRow } from "../../ports/thread-store.ts";
import { type Access, storeTime } from "./access.ts";
import type { Queries } from "./database.ts";
import type { Job } from "./jobs.ts";

interface StoredThread {
  readonly no: number;
  readonly id: ThreadId;
  readonly title: string | null;
  readonly metadata: string | null;
  readonly parent: ThreadId | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly messages: number;
  readonly active: RunId | null;
  readonly status: RunStatus;
  readonly latest: RunId | null;
  readonly queued: number;
}

const columns = `owner.no, owner.id, owner.title, owner.metadata, owner.created_at, owner.updated_at,
  (SELECT id FROM hf.threads WHERE no = owner.parent) AS parent,
  greatest(owner.position, coalesce(active.placed, 0)) - owner.erased AS messages,
  active.id AS active, active.status,
  (SELECT id FROM hf.runs WHERE thread = owner.no ORDER BY no DESC LIMIT 1) AS latest,
  (SELECT count(*) FROM hf.runs WHERE thread = owner.no AND queued) AS queued`;
const joined = "LEFT JOIN hf.runs AS active ON active.no = owner.active";

const findThread = `SELECT ${columns} FROM hf.threads AS owner ${joined} WHERE owner.scope = $1 AND owner.id = $2`;

export async function readThreadRow(db: Queries, key: ThreadKey): Promise<ThreadRow | undefined> {
  const row = await db.get<StoredThread>(findThread, [key.scope, key.thread]);
  return row && rowOf(row, key);
}

export async function listThreads(db: Queries, list: ThreadList): Promise<readonly ThreadRow[]> {
  const { scope, parent, after, limit } = list;
  const values = [
    scope,
    limit,
    ...(after === undefined ? [] : [after]),
    ...(typeof parent === "string" ? [parent] : []),
  ];
  return (await db.all<StoredThread>(pageOf(list), values)).map((row) => rowOf(row, list));
}

/** One statement per kind of list, each prepared once. */
export function pageOf({ parent, order, after }: Pick<ThreadList, "parent" | "order" | "after">): string {
  const last = after === undefined ? "$3" : "$4";
  const named = `AND owner.parent = (SELECT no FROM hf.threads WHERE scope = $1 AND id = ${last})`;
  const lineage = parent === null ? "AND owner.parent IS NULL" : named;
  const place = order === "oldest" ? "AND owner.no > $3" : "AND owner.no < $3";
  return `SELECT ${columns} FROM hf.threads AS owner ${joined}
    WHERE owner.scope = $1 ${parent === undefined ? "" : lineage} ${after === undefined ? "" : place}
    ORDER BY owner.no ${order === "oldest" ? "" : "DESC"} LIMIT $2`;
}

function rowOf(row: StoredThread, { scope }: Pick<ThreadKey, "scope">): ThreadRow {
  return {
    scope,
    thread: row.id,
    no: row.no,
    ...(row.title === null ? {} : { title: JSON.parse(row.title) as string }),
    metadata: row.metadata === null ? {} : (JSON.parse(row.metadata) as JsonObject),
    ...(row.parent === null ? {} : { parent: row.parent }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    messages: row.messages,
    ...(row.active === null ? {} : { current: { run: row.active, status: row.status } }),
    ...(row.latest === null ? {} : { latest: row.latest }),
    queued: row.queued,
  };
}

const change = `UPDATE hf.threads SET updated_at = ${storeTime("$3")},
  title = CASE WHEN $4::boolean THEN $5 ELSE title END, metadata = coalesce($6, metadata) WHERE scope = $1 AND id = $2`;

export function changeThreadJob(access: Access, wanted: ThreadChange): Job<boolean> {
  const { scope, thread, title } = wanted;
  const metadata = wanted.metadata === undefined ? null : JSON.stringify(wanted.metadata);
  const named = typeof title === "string" ? JSON.stringify(title) : null;
  const write = async (db: Queries): Promise<boolean> => {
    const values = [scope, thread, access.time(), title !== undefined, named, metadata];
    return (await db.run(change, values)) === 1;
  };
  const keys = [`thread\n${scope}\n${thread}`];
  return { scope, keys, bytes: metadata?.length ?? 0, needs: { threads: [wanted] }, write };
}
