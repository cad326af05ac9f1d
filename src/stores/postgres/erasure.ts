/**
 * Whole runs and threads, and nothing less, leave the store (L10, H3).
 *
 * E1 Everything is locked and looked at first: one run that is not done, or whose parent waits to be told
 *    (O5), and nothing is erased.
 * E2 Numbers and positions come from sequences, so what was taken away is never numbered again. An erasure draws a
 *    position of its own, so that `head` tells of it.
 * E3 Children are younger than their parents: a family is locked from its root on, in the order of numbers.
 */
import type { RunId, Scope } from "../../domain/ids.ts";
import type { Delivery } from "../../ports/outbox-store.ts";
import type { RunKey } from "../../ports/store.ts";
import type { DeleteAnswer, DeleteThread, PruneRuns } from "../../ports/thread-store.ts";
import { toldTicket } from "../shared/outbox-rows.ts";
import { type Access, storeTime, type Tx } from "./access.ts";
import type { Queries } from "./database.ts";
import { type Job, keyOf } from "./jobs.ts";

/** Tables whose `run` is the number of a run. */
export const tablesOfRun = [
  "journal",
  "post_keys",
  "inbox",
  "tickets",
  "snapshots",
  "evidence",
  "outbox",
  "content_refs",
] as const;

export function eraseRunJob(key: RunKey): Job<DeleteAnswer> {
  const needs = { runs: [key], threadsOf: [key] };
  return { scope: key.scope, keys: [keyOf(key)], bytes: 0, needs, write: (tx) => eraseRun(tx, key) };
}

async function eraseRun(tx: Tx, { scope, run }: RunKey): Promise<DeleteAnswer> {
  const sql = "SELECT no, status FROM hf.runs WHERE scope = $1 AND id = $2";
  const row = await tx.get<{ no: number; status: string }>(sql, [scope, run]);
  if (!row) return { kind: "not-found" };
  if (row.status !== "done" || (await firstUntold(tx, scope, [row.no]))) return { kind: "busy", run };
  await erase(tx, scope, [row.no]);
  return { kind: "deleted", threads: 0, runs: 1 };
}

const isPrunable = "NOT EXISTS (SELECT FROM hf.outbox WHERE run = runs.no)";
const findEnded = `WITH latest AS MATERIALIZED (
    SELECT CASE WHEN $2::bigint IS NULL THEN ${storeTime("$3")} - $4::bigint + 1 ELSE $2::bigint END AS time)
  SELECT id AS run, scope, time FROM latest CROSS JOIN LATERAL (
    SELECT id, scope FROM hf.runs WHERE scope = $1 AND ended_at < time AND ${isPrunable}
    ORDER BY ended_at, no LIMIT $5) AS found`;

export interface EndedRun extends RunKey {
  /** What ended before it may go. */
  readonly time: number;
}

/** H5: what might be erased, to be looked at again when it is locked. */
export function endedRuns(db: Queries, access: Access, what: PruneRuns): Promise<readonly EndedRun[]> {
  const { scope, ended, limit } = what;
  const [before, agoMs] = "before" in ended ? [ended.before, null] : [null, ended.agoMs];
  return db.all<EndedRun>(findEnded, [scope, before, access.time(), agoMs, Math.max(0, limit)]);
}

export function pruneJob(scope: Scope, found: readonly EndedRun[]): Job<readonly RunId[]> {
  const needs = { runs: found, threadsOf: found };
  return { scope, keys: found.map(keyOf), bytes: 0, needs, write: (tx) => prune(tx, scope, found) };
}

const findPrunable = `SELECT no, id FROM hf.runs WHERE scope = $1 AND id = ANY ($2::text[]) AND ended_at < $3
  AND ${isPrunable} ORDER BY ended_at, no`;

async function prune(tx: Tx, scope: Scope, found: readonly EndedRun[]): Promise<readonly RunId[]> {
  const values = [scope, found.map(({ run }) => run), found[0]?.time ?? 0];
  const runs = await tx.all<{ no: number; id: RunId }>(findPrunable, values);
  const doomed = runs.map(({ no }) => no);
  if (doomed.length > 0) await erase(tx, scope, doomed);
  return runs.map(({ id }) => id);
}

export function deleteThreadJob(what: DeleteThread): Job<DeleteAnswer> {
  const needs = { threads: [what] };
  return { scope: what.scope, keys: [], bytes: 0, needs, isExclusive: true, write: (tx) => deleteThread(tx, what) };
}

async function deleteThread(tx: Tx, { scope, thread, children }: DeleteThread): Promise<DeleteAnswer> {
  const found = await tx.get<{ no: number }>("SELECT no FROM hf.threads WHERE scope = $1 AND id = $2", [scope, thread]);
  const [no] = tx.threads;
  if (!found || found.no !== no) return { kind: "not-found" };
  const count = children === "reject" ? await countChildren(tx, scope, no) : 0;
  if (count > 0) return { kind: "has-children", children: count };
  const doomed = children === "cascade" ? await lockFamily(tx, scope, no) : [no];
  const busy = await tx.get<{ id: RunId }>(firstOpen, [doomed]);
  if (busy) return { kind: "busy", run: busy.id };
  const runs = (await tx.all<{ no: number }>(lockRuns, [doomed])).map((row) => row.no);
  const untold = await firstUntold(tx, scope, runs);
  if (untold !== undefined) return { kind: "busy", run: untold };
  if (runs.length > 0) await erase(tx, scope, runs);
  if (children === "detach")
    await tx.run("UPDATE hf.threads SET parent = NULL WHERE scope = $1 AND parent = $2", [scope, no]);
  await tx.run("DELETE FROM hf.thread_state WHERE thread = ANY ($1::bigint[])", [doomed]);
  await tx.run("DELETE FROM hf.threads WHERE no = ANY ($1::bigint[])", [doomed]);
  return { kind: "deleted", threads: doomed.length, runs: runs.length };
}

const firstOpen = `SELECT id FROM hf.runs WHERE thread = ANY ($1::bigint[]) AND status <> 'done' ORDER BY no LIMIT 1`;
const lockRuns = "SELECT no FROM hf.runs WHERE thread = ANY ($1::bigint[]) ORDER BY no FOR UPDATE";

const findTold = `SELECT id, body FROM hf.outbox JOIN hf.runs ON runs.no = outbox.run
  WHERE outbox.run = ANY ($1::bigint[]) AND lane = 'run' ORDER BY outbox.run, seq, idx`;
const findOpenTicket = "SELECT id FROM hf.tickets WHERE scope = $1 AND id = ANY ($2::text[]) AND settlement IS NULL";

/** O5: its parent still waits to be told that it has ended. */
async function firstUntold(tx: Tx, scope: Scope, runs: readonly number[]): Promise<RunId | undefined> {
  const rows = await tx.all<{ id: RunId; body: string }>(findTold, [runs]);
  const told = rows.map(({ id, body }) => ({ id, ticket: toldTicket(JSON.parse(body) as Delivery) }));
  const tickets = told.flatMap(({ ticket }) => (ticket === undefined ? [] : [ticket]));
  if (tickets.length === 0) return undefined;
  const open = (await tx.all<{ id: string }>(findOpenTicket, [scope, tickets])).map(({ id }) => id);
  return told.find(({ ticket }) => ticket !== undefined && open.includes(ticket))?.id;
}

async function countChildren(tx: Queries, scope: Scope, no: number): Promise<number> {
  const sql = "SELECT count(*) AS count FROM hf.threads WHERE scope = $1 AND parent = $2";
  return (await tx.get<{ count: number }>(sql, [scope, no]))?.count ?? 0;
}

const lockDescendants = `WITH RECURSIVE family (no) AS (SELECT $1::bigint UNION
    SELECT threads.no FROM family JOIN hf.threads ON threads.scope = $2 AND threads.parent = family.no)
  SELECT threads.no FROM family JOIN hf.threads USING (no) ORDER BY threads.no FOR UPDATE OF threads`;

/** The thread and all its descendants (E3). A child of a locked thread cannot be born, so the last look is the whole. */
async function lockFamily(tx: Tx, scope: Scope, no: number): Promise<readonly number[]> {
  let known: readonly number[] = [];
  for (;;) {
    const family = (await tx.all<{ no: number }>(lockDescendants, [no, scope])).map((row) => row.no);
    if (family.length === known.length) return family;
    known = family;
  }
}

const raiseErased = `INSERT INTO hf.erasures (scope, up_to)
  SELECT $1, coalesce(max(at), 0) FROM hf.journal WHERE run = ANY ($2::bigint[])
  ON CONFLICT (scope) DO UPDATE SET up_to = greatest(erasures.up_to, excluded.up_to)`;
const removeStarts = `DELETE FROM hf.start_keys WHERE scope = $1
  AND run = ANY (ARRAY(SELECT id FROM hf.runs WHERE no = ANY ($2::bigint[]))) AND key = ANY (ARRAY(
  SELECT start_key FROM hf.runs WHERE no = ANY ($2::bigint[])
  UNION ALL SELECT start_key FROM hf.post_keys WHERE run = ANY ($2::bigint[]) AND start_key IS NOT NULL))`;
const countErased = `UPDATE hf.threads SET erased = erased + (
    SELECT coalesce(sum(m), 0) FROM hf.journal WHERE run = ANY (ARRAY(
      SELECT no FROM hf.runs WHERE no = ANY ($1::bigint[]) AND thread = threads.no AND start_pos IS NOT NULL)))
  WHERE no = ANY (ARRAY(SELECT thread FROM hf.runs WHERE no = ANY ($1::bigint[])))`;

async function erase(tx: Tx, scope: Scope, runs: readonly number[]): Promise<void> {
  await tx.run(raiseErased, [scope, runs]);
  await tx.run(removeStarts, [scope, runs]);
  await tx.run(countErased, [runs]);
  for (const table of tablesOfRun) await tx.run(`DELETE FROM hf.${table} WHERE run = ANY ($1::bigint[])`, [runs]);
  await tx.run("DELETE FROM hf.runs WHERE no = ANY ($1::bigint[])", [runs]);
  await tx.get("SELECT nextval('hf.positions')"); // E2
}

export async function erasedUpTo(db: Queries, scope: Scope): Promise<number> {
  const row = await db.get<{ up_to: number }>("SELECT up_to FROM hf.erasures WHERE scope = $1", [scope]);
  return row?.up_to ?? 0;
}
