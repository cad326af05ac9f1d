/** Reads of runs and manifests; snapshots and evidence, which are no entries. */

import type { DeclaredManifest } from "../../domain/declared-manifest.ts";
import type { Fingerprint, Scope, ThreadId } from "../../domain/ids.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { RunStatus } from "../../domain/run.ts";
import type { Evidence, EvidenceRow, RunKey, RunRow, Snapshot } from "../../ports/store.ts";
import { noSuchRun } from "../shared/refusals.ts";
import { type Access, type RowWait, storeTime } from "./access.ts";
import type { Queries } from "./database.ts";
import { type Job, keyOf } from "./jobs.ts";

interface StoredRun {
  readonly thread_id: ThreadId;
  readonly agent: string;
  readonly status: RunStatus;
  readonly queued: boolean;
  readonly epoch: number;
  readonly head: number;
  readonly crashes: number;
  readonly lease_until: number | null;
  readonly wake: number | null;
  readonly start_pos: number | null;
  readonly fingerprint: Fingerprint;
  readonly created_at: number;
}

const findRun = `SELECT thread_id, agent, status, queued, epoch, head, crashes, lease_until, wake, start_pos, fingerprint,
  created_at FROM hf.runs WHERE scope = $1 AND id = $2`;

export async function readRow(db: Queries, { scope, run }: RunKey): Promise<RunRow | undefined> {
  const row = await db.get<StoredRun>(findRun, [scope, run]);
  if (!row) return undefined;
  return {
    scope,
    run,
    thread: row.thread_id,
    agent: row.agent,
    status: row.status,
    queued: row.queued,
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

export async function readManifest(
  db: Queries,
  scope: Scope,
  fingerprint: Fingerprint,
): Promise<DeclaredManifest | undefined> {
  const sql = "SELECT body FROM hf.manifests WHERE scope = $1 AND fingerprint = $2";
  const row = await db.get<{ body: string }>(sql, [scope, fingerprint]);
  return row && (JSON.parse(row.body) as DeclaredManifest);
}

/** The run is kept from being erased in between; commits are not held up. */
const owner = (wait: RowWait): string =>
  `owner AS MATERIALIZED (SELECT no FROM hf.runs WHERE scope = $1 AND id = $2 FOR KEY SHARE ${wait})`;

const saveNewer = (
  wait: RowWait,
): string => `WITH ${owner(wait)} INSERT INTO hf.snapshots (run, seq, fold_version, state)
  SELECT no, $3::bigint, $4::integer, $5::text FROM owner
  ON CONFLICT (run) DO UPDATE SET seq = excluded.seq, fold_version = excluded.fold_version, state = excluded.state
    WHERE snapshots.seq <= excluded.seq`;

export function snapshotJob(key: RunKey, { seq, foldVersion, state }: Snapshot): Job<true> {
  const save = (db: Queries, wait: RowWait): Promise<number> =>
    db.run(saveNewer(wait), [key.scope, key.run, seq, foldVersion, state]);
  return {
    ...{ scope: key.scope, keys: [keyOf(key)], bytes: state.length, needs: {} },
    alone: async (db) => ((await save(db, "SKIP LOCKED")) > 0 ? true : undefined),
    write: async (tx) => {
      await save(tx, "");
      return true;
    },
  };
}

const findSnapshot = `SELECT seq, fold_version, state FROM hf.snapshots
  WHERE run = (SELECT no FROM hf.runs WHERE scope = $1 AND id = $2)`;

export async function readSnapshot(db: Queries, key: RunKey): Promise<Snapshot | undefined> {
  const row = await db.get<{ seq: number; fold_version: number; state: string }>(findSnapshot, [key.scope, key.run]);
  return row && { seq: row.seq, foldVersion: row.fold_version, state: row.state };
}

const insertEvidence = (wait: RowWait): string => `WITH ${owner(wait)} INSERT INTO hf.evidence (run, kind, time, body)
  SELECT no, $3::text, ${storeTime("$4")}, $5::text FROM owner`;

export function evidenceJob(access: Access, evidence: Evidence): Job<true> {
  const { scope, run, kind } = evidence;
  const body = JSON.stringify(evidence.body);
  const add = (db: Queries, wait: RowWait): Promise<number> =>
    db.run(insertEvidence(wait), [scope, run, kind, access.time(), body]);
  return {
    ...{ scope, keys: [keyOf(evidence)], bytes: body.length, needs: {} },
    alone: async (db) => ((await add(db, "SKIP LOCKED")) > 0 ? true : undefined),
    write: async (tx) => {
      if ((await add(tx, "")) === 0) throw noSuchRun({ scope, run });
      return true;
    },
  };
}

const findEvidence = `SELECT kind, time, body FROM hf.evidence
  WHERE run = (SELECT no FROM hf.runs WHERE scope = $1 AND id = $2) ORDER BY no LIMIT 10000`;

export async function readEvidence(db: Queries, key: RunKey): Promise<readonly EvidenceRow[]> {
  const rows = await db.all<{ kind: Evidence["kind"]; time: number; body: string }>(findEvidence, [key.scope, key.run]);
  return rows.map(({ kind, time, body }) => ({ kind, at: time, body: JSON.parse(body) as JsonValue }));
}
