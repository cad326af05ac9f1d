/**
 * Whole runs and threads, and nothing less, leave the file (L10, H3).
 *
 * E1 Everything is looked at first: one run that is not done, or whose parent waits to be told (O5),
 *    and nothing is erased.
 * E2 What was taken away is never numbered again: `high_water` is raised before the rows go, and the journal's empty row
 *    moves above every position, in the same transaction. An ordinary commit still takes the next free position unasked.
 */
import type { RunId, Scope } from "../../domain/ids.ts";
import { entryFormat } from "../../domain/upcast.ts";
import type { Delivery } from "../../ports/outbox-store.ts";
import type { RunKey } from "../../ports/store.ts";
import type { DeleteAnswer, DeleteThread, PruneRuns } from "../../ports/thread-store.ts";
import { endedBefore } from "../shared/ended-before.ts";
import { toldTicket } from "../shared/outbox-rows.ts";
import type { Access } from "./access.ts";
import type { Connection } from "./database.ts";
import type { Job } from "./group.ts";
import { bodyOf } from "./journal.ts";
import { headPosition } from "./read-all.ts";
import { threadNo } from "./thread-rows.ts";

/** Tables whose `run` is the number of a run. */
export const tablesOfRun = [
  "post_keys",
  "inbox",
  "tickets",
  "snapshots",
  "evidence",
  "outbox",
  "content_refs",
] as const;

interface DoomedRun {
  readonly no: number;
  readonly thread: number;
  readonly start_pos: number | null;
}

export function eraseRunJob(access: Access, key: RunKey): Job<DeleteAnswer> {
  return { bytes: 0, write: () => eraseRun(access, key) };
}

const findRun = "SELECT no, thread, start_pos, status FROM runs WHERE scope = ? AND id = ?";

function eraseRun(access: Access, { scope, run }: RunKey): DeleteAnswer {
  const row = access.db.get<DoomedRun & { status: string }>(findRun, scope, run);
  if (!row) return { kind: "not-found" };
  if (row.status !== "done" || firstUntold(access.db, scope, [row])) return { kind: "busy", run };
  erase(access, scope, [row]);
  return { kind: "deleted", threads: 0, runs: 1 };
}

export const findEnded = `SELECT no, id, thread, start_pos FROM runs INDEXED BY runs_ended
  WHERE scope = ? AND ended_at < ? AND NOT EXISTS (SELECT 1 FROM outbox WHERE run = runs.no)
  ORDER BY ended_at, no LIMIT ?`;

/** H5. Alone it takes no write lock when there is nothing to erase. */
export function pruneJob(access: Access, what: PruneRuns): Job<readonly RunId[]> {
  const { db, now } = access;
  const find = (): readonly (DoomedRun & { readonly id: RunId })[] =>
    db.all(findEnded, what.scope, endedBefore(what, now()), Math.max(0, what.limit));
  const write = (): readonly RunId[] => {
    const runs = find();
    erase(access, what.scope, runs);
    return runs.map((run) => run.id);
  };
  return { bytes: 0, alone: () => (find().length === 0 ? [] : undefined), write };
}

export function deleteThreadJob(access: Access, what: DeleteThread): Job<DeleteAnswer> {
  return { bytes: 0, write: () => deleteThread(access, what) };
}

function deleteThread(access: Access, what: DeleteThread): DeleteAnswer {
  const { db } = access;
  const { scope, children } = what;
  const no = threadNo(db, what);
  if (no === undefined) return { kind: "not-found" };
  const count = children === "reject" ? countChildren(db, scope, no) : 0;
  if (count > 0) return { kind: "has-children", children: count };
  const doomed = children === "cascade" ? family(db, scope, no) : [no];
  const busy = db.get<{ id: RunId }>(firstOpen, JSON.stringify(doomed));
  if (busy) return { kind: "busy", run: busy.id };
  const runs = db.all<DoomedRun>(runsOf, JSON.stringify(doomed));
  const untold = firstUntold(db, scope, runs);
  if (untold !== undefined) return { kind: "busy", run: untold };
  erase(access, scope, runs);
  if (children === "detach") db.run("UPDATE threads SET parent = NULL WHERE scope = ? AND parent = ?", scope, no);
  for (const thread of doomed) removeThread(db, thread);
  return { kind: "deleted", threads: doomed.length, runs: runs.length };
}

const inThreads = "INDEXED BY runs_by_thread WHERE thread IN (SELECT value FROM json_each(?))";
const firstOpen = `SELECT id FROM runs ${inThreads} AND status <> 'done' ORDER BY no LIMIT 1`;
const runsOf = `SELECT no, thread, start_pos FROM runs ${inThreads}`;

const findTold = `SELECT id, body FROM outbox JOIN runs ON runs.no = outbox.run
  WHERE outbox.run IN (SELECT value FROM json_each(?)) AND lane = 'run' ORDER BY outbox.run, seq, idx`;
const findOpenTicket = "SELECT 1 AS open FROM tickets WHERE scope = ? AND id = ? AND settlement IS NULL";

/** O5: its parent still waits to be told that it has ended. */
function firstUntold(db: Connection, scope: Scope, runs: readonly DoomedRun[]): RunId | undefined {
  const rows = db.all<{ id: RunId; body: string }>(findTold, JSON.stringify(runs.map(({ no }) => no)));
  const isAwaited = ({ body }: { readonly body: string }): boolean => {
    const ticket = toldTicket(JSON.parse(body) as Delivery);
    return ticket !== undefined && db.get<{ open: number }>(findOpenTicket, scope, ticket) !== undefined;
  };
  return rows.find(isAwaited)?.id;
}

function countChildren(db: Connection, scope: Scope, no: number): number {
  const sql = "SELECT count(*) AS count FROM threads WHERE scope = ? AND parent = ?";
  return db.get<{ count: number }>(sql, scope, no)?.count ?? 0;
}

/** The thread and all its descendants. */
function family(db: Connection, scope: Scope, no: number): readonly number[] {
  const sql = `WITH RECURSIVE family (no) AS (SELECT ?1 UNION
    SELECT threads.no FROM family JOIN threads ON threads.scope = ?2 AND threads.parent = family.no)
    SELECT no FROM family`;
  return db.all<{ no: number }>(sql, no, scope).map((row) => row.no);
}

function removeThread(db: Connection, no: number): void {
  db.run("UPDATE high_water SET thread = max(thread, ?)", no);
  db.run("DELETE FROM thread_notes WHERE thread = ?", no);
  db.run("DELETE FROM thread_state WHERE thread = ?", no);
  db.run("DELETE FROM threads WHERE no = ?", no);
}

const raiseErased = `INSERT INTO erasures (scope, up_to) VALUES (?1, ?2)
  ON CONFLICT DO UPDATE SET up_to = max(up_to, ?2)`;

function erase({ db, now }: Access, scope: Scope, runs: readonly DoomedRun[]): void {
  if (runs.length === 0) return;
  const head = headPosition(db);
  for (const run of runs) {
    db.run(raiseErased, scope, lastPosition(db, run));
    removeRun(db, scope, run);
  }
  keepAbove(db, head, now());
}

function lastPosition(db: Connection, { thread, no }: DoomedRun): number {
  const sql = "SELECT at FROM journal WHERE thread = ? AND run = ? ORDER BY seq DESC LIMIT 1";
  return db.get<{ at: number }>(sql, thread, no)?.at ?? 0;
}

const removeStarts = `DELETE FROM start_keys WHERE scope = ?1 AND run = (SELECT id FROM runs WHERE no = ?2) AND key IN (
  SELECT start_key FROM runs WHERE no = ?2 UNION ALL SELECT start_key FROM post_keys WHERE run = ?2)`;
const countErased = `UPDATE threads SET
  erased = erased + (SELECT coalesce(sum(m), 0) FROM journal WHERE thread = ?1 AND run = ?2) WHERE no = ?1`;

function removeRun(db: Connection, scope: Scope, { no, thread, start_pos }: DoomedRun): void {
  db.run("UPDATE high_water SET run = max(run, ?)", no);
  db.run(removeStarts, scope, no);
  if (start_pos !== null) db.run(countErased, thread, no);
  db.run("DELETE FROM journal WHERE thread = ? AND run = ?", thread, no);
  for (const table of tablesOfRun) db.run(`DELETE FROM ${table} WHERE run = ?`, no);
  db.run("DELETE FROM runs WHERE no = ?", no);
}

const insertEmpty = `INSERT INTO journal (at, thread, run, seq, n, time, m, format, body)
  VALUES (?1, 0, 0, 1, 0, ?2, 0, ?3, ?4)`;

function keepAbove(db: Connection, head: number, time: number): void {
  db.run("DELETE FROM journal WHERE thread = 0 AND run = 0");
  db.run(insertEmpty, head + 1, time, entryFormat, bodyOf([]));
}

export function erasedUpTo(db: Connection, scope: Scope): number {
  return db.get<{ up_to: number }>("SELECT up_to FROM erasures WHERE scope = ?", scope)?.up_to ?? 0;
}
