/**
 * Thread rows: one thread, pages of threads, title and metadata.
 *
 * T1 A page walks one index in the order of creation and reads, per thread, its active run's last commit, its newest run
 *    and its queue: it costs its length, whatever the table holds (H2).
 */
import type { RunId, ThreadId } from "../../domain/ids.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { RunStatus } from "../../domain/run.ts";
import type { ThreadChange, ThreadKey, ThreadList, ThreadRow } from "../../ports/thread-store.ts";
import type { Access } from "./access.ts";
import type { Connection } from "./database.ts";
import type { Job } from "./group.ts";

export function threadNo(db: Connection, { scope, thread }: ThreadKey): number | undefined {
  return db.get<{ no: number }>("SELECT no FROM threads WHERE scope = ? AND id = ?", scope, thread)?.no;
}

export function nextThreadNo(db: Connection): number {
  const sql = "SELECT max(thread, coalesce((SELECT max(no) FROM threads), 0)) + 1 AS no FROM high_water";
  return db.get<{ no: number }>(sql)?.no ?? 1;
}

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

const columns = `owner.no, owner.id, title, metadata, owner.created_at, owner.updated_at,
  (SELECT id FROM threads WHERE no = owner.parent) AS parent,
  max(owner.position, coalesce((SELECT pos + m FROM journal INDEXED BY journal_by_run
    WHERE thread = owner.no AND run = owner.active AND pos IS NOT NULL ORDER BY seq DESC LIMIT 1), 0)) - owner.erased AS messages,
  active.id AS active, active.status,
  (SELECT id FROM runs INDEXED BY runs_by_thread WHERE thread = owner.no ORDER BY no DESC LIMIT 1) AS latest,
  (SELECT count(*) FROM runs INDEXED BY runs_queued WHERE thread = owner.no AND queued = 1) AS queued`;
const joined = `LEFT JOIN thread_notes ON thread_notes.thread = owner.no
  LEFT JOIN runs AS active ON active.no = owner.active`;

const findThread = `SELECT ${columns} FROM threads AS owner ${joined} WHERE owner.scope = ? AND owner.id = ?`;

export function readThreadRow(db: Connection, key: ThreadKey): ThreadRow | undefined {
  const row = db.get<StoredThread>(findThread, key.scope, key.thread);
  return row && rowOf(row, key);
}

export function listThreads(db: Connection, list: ThreadList): readonly ThreadRow[] {
  const { scope, parent, after } = list;
  const values = [
    scope,
    ...(typeof parent === "string" ? [scope, parent] : []),
    ...(after === undefined ? [] : [after]),
  ];
  return db.all<StoredThread>(pageOf(list), ...values, list.limit).map((row) => rowOf(row, list));
}

/** One statement per kind of list, each prepared once. */
export function pageOf({ parent, order, after }: Pick<ThreadList, "parent" | "order" | "after">): string {
  const index = parent === undefined ? "threads_by_scope" : "threads_by_parent";
  const named = "AND owner.parent = (SELECT no FROM threads WHERE scope = ? AND id = ?)";
  const lineage = parent === null ? "AND owner.parent IS NULL" : named;
  const place = order === "oldest" ? "AND owner.no > ?" : "AND owner.no < ?";
  return `SELECT ${columns} FROM threads AS owner INDEXED BY ${index} ${joined}
    WHERE owner.scope = ? ${parent === undefined ? "" : lineage} ${after === undefined ? "" : place}
    ORDER BY owner.no ${order === "oldest" ? "" : "DESC"} LIMIT ?`;
}

function rowOf(row: StoredThread, { scope }: Pick<ThreadKey, "scope">): ThreadRow {
  return {
    scope,
    thread: row.id,
    no: row.no,
    ...(row.title === null ? {} : { title: row.title }),
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

const insertNotes = "INSERT INTO thread_notes (thread, title, metadata) VALUES (?, ?, ?)";
const changeTitle = `INSERT INTO thread_notes (thread, title, metadata) VALUES (?1, ?2, '{}')
  ON CONFLICT DO UPDATE SET title = ?2`;
const changeMetadata = `INSERT INTO thread_notes (thread, metadata) VALUES (?1, ?2)
  ON CONFLICT DO UPDATE SET metadata = ?2`;

/** Most threads have none. */
export function writeNotes(
  db: Connection,
  no: number,
  { title, metadata }: { readonly title?: string; readonly metadata?: JsonObject },
): void {
  if (title === undefined && metadata === undefined) return;
  db.run(insertNotes, no, title ?? null, JSON.stringify(metadata ?? {}));
}

export function changeThreadJob(access: Access, change: ThreadChange): Job<boolean> {
  const metadata = change.metadata && JSON.stringify(change.metadata);
  const write = (): boolean => {
    const no = threadNo(access.db, change);
    if (no === undefined) return false;
    if (change.title !== undefined) access.db.run(changeTitle, no, change.title);
    if (metadata !== undefined) access.db.run(changeMetadata, no, metadata);
    access.db.run("UPDATE threads SET updated_at = ? WHERE no = ?", access.now(), no);
    return true;
  };
  return { bytes: metadata?.length ?? 0, write };
}
