/** Reads of runs and manifests; snapshots and evidence, which are no entries. */

import type { DeclaredManifest } from "../../domain/declared-manifest.ts";
import type { Fingerprint, Scope, ThreadId } from "../../domain/ids.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { RunStatus } from "../../domain/run.ts";
import type { Evidence, EvidenceRow, RunKey, RunRow, Snapshot } from "../../ports/store.ts";
import { noSuchRun } from "../shared/refusals.ts";
import type { Access } from "./access.ts";
import type { Connection } from "./database.ts";
import type { Job } from "./group.ts";

interface StoredRun {
  readonly thread_id: ThreadId;
  readonly agent: string;
  readonly status: RunStatus;
  readonly queued: number;
  readonly epoch: number;
  readonly head: number;
  readonly crashes: number;
  readonly lease_until: number | null;
  readonly wake: number | null;
  readonly start_pos: number | null;
  readonly fingerprint: Fingerprint;
  readonly created_at: number;
}

const findRun = `SELECT thread_id, agent, status, queued, epoch, crashes, lease_until, wake, start_pos, fingerprint, created_at,
    (SELECT seq + n - 1 FROM journal WHERE thread = runs.thread AND run = runs.no ORDER BY seq DESC LIMIT 1) AS head
  FROM runs WHERE scope = ? AND id = ?`;

export function readRow(db: Connection, { scope, run }: RunKey): RunRow | undefined {
  const row = db.get<StoredRun>(findRun, scope, run);
  if (!row) return undefined;
  return {
    scope,
    run,
    thread: row.thread_id,
    agent: row.agent,
    status: row.status,
    queued: row.queued === 1,
    epoch: row.epoch,
    head: row.head,
    crashes: row.crashes,
    ...(row.lease_until === null ? {} : { leaseUntil: row.lease_until }),
    ...(row.wake === null ? {} : { wake: row.wake }),
    ...(row.start_pos === null ? {} : { startPosition: row.start_pos }),
    fingerprint: row.fingerprint,
    createdAt: row.created_at,
  };
}

export function readManifest(db: Connection, scope: Scope, fingerprint: Fingerprint): DeclaredManifest | undefined {
  const sql = "SELECT body FROM manifests WHERE scope = ? AND fingerprint = ?";
  const row = db.get<{ body: string }>(sql, scope, fingerprint);
  return row && (JSON.parse(row.body) as DeclaredManifest);
}

const saveNewer = `INSERT INTO snapshots (run, seq, fold_version, state)
  SELECT no, ?3, ?4, ?5 FROM runs WHERE scope = ?1 AND id = ?2
  ON CONFLICT DO UPDATE SET seq = ?3, fold_version = ?4, state = ?5 WHERE snapshots.seq <= ?3`;

export function snapshotJob({ db }: Access, key: RunKey, snapshot: Snapshot): Job<true> {
  const { seq, foldVersion, state } = snapshot;
  const save = (): true => {
    db.run(saveNewer, key.scope, key.run, seq, foldVersion, state);
    return true;
  };
  return { bytes: state.length, alone: save, write: save };
}

const findSnapshot = `SELECT seq, fold_version, state FROM snapshots
  WHERE run = (SELECT no FROM runs WHERE scope = ? AND id = ?)`;

export function readSnapshot(db: Connection, key: RunKey): Snapshot | undefined {
  const row = db.get<{ seq: number; fold_version: number; state: string }>(findSnapshot, key.scope, key.run);
  return row && { seq: row.seq, foldVersion: row.fold_version, state: row.state };
}

const insertEvidence = `INSERT INTO evidence (run, kind, time, body)
  SELECT no, ?, ?, ? FROM runs WHERE scope = ? AND id = ?`;

export function evidenceJob({ db, now }: Access, evidence: Evidence): Job<true> {
  const { scope, run, kind } = evidence;
  const body = JSON.stringify(evidence.body);
  const add = (): true => {
    if (db.run(insertEvidence, kind, now(), body, scope, run) === 0) throw noSuchRun({ scope, run });
    return true;
  };
  return { bytes: body.length, alone: add, write: add };
}

const findEvidence = `SELECT kind, time, body FROM evidence
  WHERE run = (SELECT no FROM runs WHERE scope = ? AND id = ?) ORDER BY no LIMIT 10000`;

export function readEvidence(db: Connection, key: RunKey): readonly EvidenceRow[] {
  const rows = db.all<{ kind: Evidence["kind"]; time: number; body: string }>(findEvidence, key.scope, key.run);
  return rows.map(({ kind, time, body }) => ({ kind, at: time, body: JSON.parse(body) as JsonValue }));
}
