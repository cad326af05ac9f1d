/** Birth: the run, its place on the thread, its start key, its manifest and its first entry in one transaction (S4). */

import type { RunId } from "../../domain/ids.ts";
import type { Birth, BirthAnswer } from "../../ports/store.ts";
import type { Access } from "./access.ts";
import type { Connection } from "./database.ts";
import type { Job } from "./group.ts";
import { bodyOf, insertFact } from "./journal.ts";
import type { Places } from "./places.ts";

const insertRun = `INSERT INTO runs
  (no, scope, id, thread, thread_id, agent, fingerprint, created_at, status, queued, epoch, crashes)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'created', ?, 0, 0) ON CONFLICT DO NOTHING`;

const takeThread = `INSERT INTO threads (scope, id, no, position, active) VALUES (?1, ?2, ?3, 0, ?3)
  ON CONFLICT DO UPDATE SET active = ?3`;

export function birthJob(access: Access, birth: Birth): Job<BirthAnswer> {
  const body = bodyOf([birth.entry]);
  return { bytes: body.length, write: () => writeBirth(access, birth, body) };
}

function writeBirth({ db, places, now }: Access, birth: Birth, body: string): BirthAnswer {
  const { scope, run, thread, agent } = birth.entry.identity;
  const first = firstBirth(db, birth);
  if (first) return first;
  const owner = db.get<{ no: number; active: number | null }>(
    "SELECT no, active FROM threads WHERE scope = ? AND id = ?",
    scope,
    thread,
  );
  const no = db.get<{ no: number }>("SELECT coalesce(max(no), 0) + 1 AS no FROM runs")?.no ?? 1;
  const place = { no, thread: owner?.no ?? no };
  const time = now();
  const isQueued = typeof owner?.active === "number";
  const { fingerprint } = birth.entry.manifest;
  const values = [no, scope, run, place.thread, thread, agent, fingerprint, time, isQueued ? 1 : 0] as const;
  if (db.run(insertRun, ...values) === 0) return { kind: "run-exists" };
  if (!isQueued) db.run(takeThread, scope, thread, no);
  const { key, requestHash } = birth;
  db.run("INSERT INTO start_keys (scope, key, run, request_hash) VALUES (?, ?, ?, ?)", scope, key, run, requestHash);
  insertFact(db, place, { seq: 1, time, body });
  storeManifest(db, places, birth);
  return { kind: "created", queued: isQueued };
}

function firstBirth(db: Connection, { entry, key, requestHash }: Birth): BirthAnswer | undefined {
  const sql = "SELECT run, request_hash FROM start_keys WHERE scope = ? AND key = ?";
  const first = db.get<{ run: RunId; request_hash: string }>(sql, entry.identity.scope, key);
  return first && { kind: first.request_hash === requestHash ? "existing" : "conflict", run: first.run };
}

function storeManifest(db: Connection, places: Places, birth: Birth): void {
  const { scope } = birth.entry.identity;
  const { fingerprint } = birth.entry.manifest;
  if (places.hasManifest(scope, fingerprint)) return;
  const sql = "INSERT INTO manifests (scope, fingerprint, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
  db.run(sql, scope, fingerprint, JSON.stringify(birth.manifest));
  places.addManifest(scope, fingerprint);
}
