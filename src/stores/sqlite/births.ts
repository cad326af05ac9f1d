/**
 * Birth: the run, its place on the thread, its start key, its manifest and its first entry in one transaction (S4). What
 * happens to a thread that has an active run is decided here, where nothing can come between.
 */
import type { RunId, Scope } from "../../domain/ids.ts";
import type { RunStatus } from "../../domain/run.ts";
import type { Birth } from "../../ports/birth.ts";
import type { BirthAnswer, BusyRun } from "../../ports/store.ts";
import { isRefused, takeover } from "../shared/busy-rule.ts";
import { firstDue } from "../shared/first-due.ts";
import type { Access } from "./access.ts";
import { citeFirst } from "./content.ts";
import type { Connection } from "./database.ts";
import type { Job } from "./group.ts";
import { bodyOf, headSeq, insertFact } from "./journal.ts";
import type { Places } from "./places.ts";
import { findStart, recordStart } from "./start-keys.ts";
import { nextThreadNo } from "./thread-rows.ts";
import { listTickets } from "./tickets.ts";

const insertRun = `INSERT INTO runs
  (no, scope, id, thread, thread_id, agent, fingerprint, parent_run, created_at, start_key, turn, status, queued,
   start_pos, priority, ready, wake, epoch, crashes)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0) ON CONFLICT DO NOTHING`;

/** The thread of a delegate's run is below its parent's, while that is there. */
const insertThread = `INSERT INTO threads (no, scope, id, created_at, updated_at, position, erased, active, parent)
  VALUES (?1, ?2, ?3, ?4, ?4, 0, 0, ?5, (SELECT no FROM threads WHERE scope = ?2 AND id = ?6))`;
const joinThread = "UPDATE threads SET active = coalesce(active, ?2), updated_at = ?3 WHERE no = ?1";

export function birthJob(access: Access, birth: Birth): Job<BirthAnswer> {
  const body = bodyOf([birth.entry]);
  return { bytes: body.length, write: () => writeBirth(access, birth, body) };
}

function writeBirth(access: Access, birth: Birth, body: string): BirthAnswer {
  const { db } = access;
  const { scope, run, thread, parentThread = null } = birth.entry.identity;
  const first = findStart(db, scope, birth.key);
  if (first) return { kind: first.requestHash === birth.requestHash ? "existing" : "conflict", run: first.run };
  if (!isWanted(db, birth)) return access.places.again({ scope, run }) ? { kind: "run-exists" } : { kind: "unwanted" };
  const { owner, active } = findOwner(db, birth);
  if (active && isRefused(birth.whenBusy, active.status)) {
    return access.places.again({ scope, run }) ? { kind: "run-exists" } : busy(db, scope, active);
  }
  const no = nextRunNo(db);
  const place = { no, thread: owner ?? nextThreadNo(db) };
  const time = access.now();
  const isQueued = active !== undefined;
  const turn = isQueued && takeover(birth) ? -no : no;
  if (!insertRunRow(db, place, { birth, time, turn, isQueued })) return { kind: "run-exists" };
  if (owner === undefined) db.run(insertThread, place.thread, scope, thread, time, no, parentThread);
  else db.run(joinThread, owner, no, time);
  if (active) askToEnd(db, { no: active.no, thread: place.thread }, { birth, time });
  insertFact(db, place, { seq: 1, time, body });
  storeBirth(access, no, birth);
  return { kind: "created", queued: isQueued };
}

const findOpenTicket = "SELECT 1 AS open FROM tickets WHERE scope = ? AND id = ? AND settlement IS NULL";

/** S14. */
function isWanted(db: Connection, { entry }: Birth): boolean {
  const { delegated, identity } = entry;
  return !delegated || db.get<{ open: number }>(findOpenTicket, identity.scope, delegated.ticket) !== undefined;
}

interface ActiveRun {
  readonly no: number;
  readonly run: RunId;
  readonly status: RunStatus;
}

const readOwner = `SELECT threads.no AS owner, runs.no, runs.id AS run, runs.status
  FROM threads LEFT JOIN runs ON runs.no = threads.active WHERE threads.scope = ? AND threads.id = ?`;

/** The thread and the run that holds it, as far as they are there. */
function findOwner(
  db: Connection,
  birth: Birth,
): { readonly owner: number | undefined; readonly active: ActiveRun | undefined } {
  const { scope, thread } = birth.entry.identity;
  const row = db.get<{ owner: number; no: number | null; run: RunId; status: RunStatus }>(readOwner, scope, thread);
  if (!row || row.no === null) return { owner: row?.owner, active: undefined };
  return { owner: row.owner, active: { no: row.no, run: row.run, status: row.status } };
}

function busy(db: Connection, scope: Scope, { run, status }: ActiveRun): BirthAnswer {
  const open = listTickets(db, { scope, run, status: "open", limit: -1 });
  const active: BusyRun = { run, status, tickets: open.map((row) => row.ticket) };
  return { kind: "busy", active };
}

export function nextRunNo(db: Connection): number {
  const sql = "SELECT max(run, coalesce((SELECT max(no) FROM runs), 0)) + 1 AS no FROM high_water";
  return db.get<{ no: number }>(sql)?.no ?? 1;
}

interface NewRun {
  readonly birth: Birth;
  readonly time: number;
  readonly turn: number;
  readonly isQueued: boolean;
  /** Imported: it has started here and ended. */
  readonly endedFrom?: number;
}

/** False when another run has its id. */
export function insertRunRow(
  db: Connection,
  place: { readonly no: number; readonly thread: number },
  added: NewRun,
): boolean {
  const { birth, time, turn, isQueued, endedFrom } = added;
  const { scope, run, thread, agent, parentRun = null } = birth.entry.identity;
  const { fingerprint } = birth.entry.manifest;
  const identity = [place.no, scope, run, place.thread, thread, agent, fingerprint, parentRun] as const;
  const state = [endedFrom === undefined ? "created" : "done", isQueued ? 1 : 0, endedFrom ?? null] as const;
  const { priority, ready, wake } = firstDue(birth, time);
  const due = [priority, ready, endedFrom === undefined ? (wake ?? null) : null] as const;
  return db.run(insertRun, ...identity, time, birth.key, turn, ...state, ...due) === 1;
}

const markCancelled = "UPDATE runs SET cancel_seq = ?2, wake = ?3 WHERE no = ?1 AND cancel_seq IS NULL";

/** One request to cancel is enough: a second one would change nothing. */
function askToEnd(
  db: Connection,
  active: { readonly no: number; readonly thread: number },
  { birth, time }: { readonly birth: Birth; readonly time: number },
): void {
  const request = takeover(birth);
  if (!request) return;
  const seq = headSeq(db, active) + 1;
  if (db.run(markCancelled, active.no, seq, time) === 0) return;
  insertFact(db, active, { seq, time, body: bodyOf([request]) });
}

/** What every birth brings beside its rows: the start key, what it cites, and its manifest when it is new here. */
export function storeBirth({ db, places }: Access, no: number, birth: Birth): void {
  recordStart(db, birth.entry.identity, birth);
  citeFirst(db, { no }, { ...birth.entry.identity, entries: [birth.entry] });
  storeManifest(db, places, birth);
}

function storeManifest(db: Connection, places: Places, birth: Birth): void {
  const { scope } = birth.entry.identity;
  const { fingerprint } = birth.entry.manifest;
  if (places.hasManifest(scope, fingerprint)) return;
  const sql = "INSERT INTO manifests (scope, fingerprint, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
  db.run(sql, scope, fingerprint, JSON.stringify(birth.manifest));
  places.addManifest(scope, fingerprint);
}
