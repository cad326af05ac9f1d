/**
 * The worker door: `commit` and `release`.
 *
 * C1 An ordinary commit is one statement and writes one journal row; the run's row is written only when status, lease,
 *    wake or crash count change.
 * C2 Every projection of a commit is written after its row, in the same transaction, and only if the row was taken.
 * C3 Why a row was not taken is read in the same transaction: epoch first, then the head, then the end.
 */
import { type RowChanges, rowChanges } from "../../domain/row-changes.ts";
import type { RunStatus } from "../../domain/run.ts";
import type { Commit, CommitAnswer, Release, RunKey, Transact } from "../../ports/store.ts";
import { afterTheEnd, type Expectation, emptyCommit, inputNotUnread, journalRegressed } from "../shared/refusals.ts";
import type { Access } from "./access.ts";
import { citeContent } from "./content.ts";
import type { Connection } from "./database.ts";
import type { Job } from "./group.ts";
import { bodyOf, entriesAfter, type FencedRow, headSeq, insertCommit } from "./journal.ts";
import { addDeliveries } from "./outbox.ts";
import type { Place } from "./places.ts";
import { checkBirth, writeSuccessor } from "./successors.ts";
import { writeState } from "./thread-state.ts";
import { openTickets, settleTickets } from "./tickets.ts";
import { applyIn } from "./transactions.ts";

interface Prepared {
  readonly commit: Commit;
  readonly changes: RowChanges;
  readonly body: string;
}

export function commitJob(access: Access, commit: Commit): Job<CommitAnswer> {
  const { transaction } = commit;
  if (transaction)
    return { bytes: 0, isLone: true, isCommit: true, write: () => transact(access, commit, transaction) };
  const prepared = { commit, changes: rowChanges(commit.entries), body: bodyOf(commit.entries) };
  const job = { bytes: prepared.body.length, isCommit: true, write: () => writeCommit(access, prepared) };
  return isOrdinary(prepared) ? { ...job, alone: () => commitAlone(access, prepared) } : job;
}

/** S12: nobody else writes between the fence and the row, for the transaction holds the file. */
function transact(access: Access, commit: Commit, transaction: Transact): CommitAnswer {
  const { db, places } = access;
  const place = places.again(commit);
  if (!place) return { kind: "fenced" };
  const refusal = refusalOf(db, place, commit);
  if (refusal) return refusal;
  if (statusOf(db, place) === "done") throw afterTheEnd(commit.run);
  const entries = applyIn(db, transaction);
  const whole = { ...commit, entries };
  return writeCommit(access, { commit: whole, changes: rowChanges(entries), body: bodyOf(entries) });
}

function isOrdinary({ commit, changes }: Prepared): boolean {
  const { status, opened, decided, takenInputs, slots, cites } = changes;
  if (slots.length + cites.length + (commit.deliveries?.length ?? 0) > 0) return false;
  return status === undefined && !commit.successor && opened.length + decided.length + takenInputs.length === 0;
}

function commitAlone(access: Access, prepared: Prepared): CommitAnswer | undefined {
  const { commit, changes } = prepared;
  const place = access.places.find(commit);
  const isCalm = !changes.progressed || place?.calmEpoch === commit.epoch;
  if (!place || !isCalm || commit.entries.length === 0) return undefined;
  const at = access.now();
  return insertCommit(access.db, place, rowOf(prepared, at)) ? { kind: "committed", at } : undefined;
}

function writeCommit(access: Access, prepared: Prepared): CommitAnswer {
  const { commit } = prepared;
  const { db, places } = access;
  const place = places.find(commit);
  if (!place) return { kind: "fenced" };
  const at = access.now();
  const isTaken = commit.entries.length > 0 && insertCommit(db, place, rowOf(prepared, at));
  if (!isTaken && isAnother(access, commit, place)) return writeCommit(access, prepared);
  if (!isTaken) return refusalOf(db, place, commit) ?? reject(db, place, commit);
  project(access, place, { ...prepared, at });
  return { kind: "committed", at };
}

/** The place was that of a run which is no more: the id is another run now, or none. */
function isAnother({ places }: Access, key: RunKey, place: Place): boolean {
  return places.again(key) !== place;
}

function rowOf({ commit, changes, body }: Prepared, time: number): FencedRow {
  const { epoch, expectedSeq, entries, position: pos } = commit;
  return { epoch, seq: expectedSeq + 1, n: entries.length, time, pos, m: changes.messages, body };
}

interface Written extends Prepared {
  readonly at: number;
}

function project(access: Access, place: Place, written: Written): void {
  const { db } = access;
  const { commit, changes, at } = written;
  checkBirth(db, place, { commit, status: changes.status });
  openTickets(db, place, { scope: commit.scope, opened: changes.opened });
  settleTickets(db, place, { scope: commit.scope, decided: changes.decided, firstSeq: commit.expectedSeq + 1, at });
  takeInputs(db, place, changes);
  writeState(db, place, { run: commit.run, slots: changes.slots });
  const { scope, expectedSeq, deliveries = [] } = commit;
  addDeliveries(db, place, { scope, deliveries, seq: expectedSeq + 1, at });
  if (changes.status !== undefined) changeStatus(access, place, { ...written, status: changes.status });
  else if (changes.progressed && place.calmEpoch !== commit.epoch) {
    db.run("UPDATE runs SET crashes = 0 WHERE no = ? AND crashes > 0", place.no);
  }
  if (changes.progressed) place.calmEpoch = commit.epoch;
  citeContent(db, place, { scope, run: commit.run, seq: expectedSeq + 1, hashes: changes.cites });
}

function takeInputs(db: Connection, place: Place, { takenInputs }: RowChanges): void {
  const sql = "UPDATE inbox SET taken = 1 WHERE run = ? AND input = ? AND taken = 0 AND withdrawn_seq IS NULL";
  for (const input of takenInputs) {
    if (db.run(sql, place.no, input) === 0) throw inputNotUnread(input);
  }
}

const updateStatus = `UPDATE runs SET status = ?2, wake = ?3,
  lease_until = CASE ?2 WHEN 'running' THEN lease_until END,
  crashes = CASE ?4 WHEN 1 THEN 0 ELSE crashes END,
  start_pos = coalesce(?5, start_pos),
  ended_at = CASE ?2 WHEN 'done' THEN ?6 END
  WHERE no = ?1`;

function changeStatus(access: Access, place: Place, change: Written & { readonly status: RunStatus }): void {
  const { db } = access;
  const { status, changes, commit, at } = change;
  const wake = status === "done" ? null : (commit.wake ?? null);
  db.run(updateStatus, place.no, status, wake, changes.progressed ? 1 : 0, changes.startPosition ?? null, at);
  if (status === "done") end(access, place, change);
}

const leaveQueue = "UPDATE runs SET queued = 0 WHERE no = ? AND queued = 1";
const promote = "UPDATE runs SET queued = 0, ready = max(ready, ?2) WHERE no = ?1 AND queued = 1";
const nextQueued = "SELECT no FROM runs INDEXED BY runs_queued WHERE thread = ? AND queued = 1 ORDER BY turn LIMIT 1";
const handOver = "UPDATE threads SET position = max(position, ?2), active = ?3, updated_at = ?4 WHERE no = ?1";
const touch = "UPDATE threads SET updated_at = ?2 WHERE no = ?1";

/** S8. A run that ends while it is queued leaves the thread to its active run. */
function end(access: Access, place: Place, { commit, changes, at }: Written): void {
  const { db } = access;
  if (db.run(leaveQueue, place.no) === 1) {
    db.run(touch, place.thread, at);
    return;
  }
  const { successor: birth } = commit;
  const born = birth && writeSuccessor(access, place, { birth, time: at });
  const next = born ?? db.get<{ no: number }>(nextQueued, place.thread)?.no ?? null;
  db.run(handOver, place.thread, commit.position + changes.messages, next, at);
  if (next !== null) db.run(promote, next, at);
}

/** The epoch and the head fit, but the run has ended or nothing was offered. */
function reject(db: Connection, place: Place, { run }: Commit): never {
  throw statusOf(db, place) === "done" ? afterTheEnd(run) : emptyCommit(run);
}

function refusalOf(db: Connection, place: Place, expected: Expectation): CommitAnswer | undefined {
  const { epoch } = db.get<{ epoch: number }>("SELECT epoch FROM runs WHERE no = ?", place.no) ?? {};
  if (epoch !== expected.epoch) return { kind: "fenced" };
  const head = headSeq(db, place);
  if (expected.expectedSeq > head) throw journalRegressed(expected, head);
  if (expected.expectedSeq === head) return undefined;
  return { kind: "behind", entries: entriesAfter(db, place, { after: expected.expectedSeq, limit: -1 }) };
}

function statusOf(db: Connection, place: Place): RunStatus | undefined {
  return db.get<{ status: RunStatus }>("SELECT status FROM runs WHERE no = ?", place.no)?.status;
}

const releaseLease = `UPDATE runs SET lease_until = NULL, wake = ?1, crashes = 0
  WHERE no = ?2 AND epoch = ?3 AND status <> 'done'
    AND (SELECT seq + n - 1 FROM journal WHERE thread = ?4 AND run = ?2 ORDER BY seq DESC LIMIT 1) = ?5`;

export function releaseJob(access: Access, release: Release): Job<CommitAnswer> {
  const free = (): CommitAnswer | undefined => {
    const place = access.places.find(release);
    const { wake = null, epoch, expectedSeq } = release;
    const isFreed = place && access.db.run(releaseLease, wake, place.no, epoch, place.thread, expectedSeq) === 1;
    return isFreed ? { kind: "committed", at: access.now() } : undefined;
  };
  return { bytes: 0, alone: free, write: () => free() ?? notReleased(access, release) };
}

function notReleased(access: Access, release: Release): CommitAnswer {
  const { db, places, now } = access;
  const place = places.find(release);
  if (!place) return { kind: "fenced" };
  if (isAnother(access, release, place)) return releaseJob(access, release).write();
  return refusalOf(db, place, release) ?? { kind: "committed", at: now() };
}
