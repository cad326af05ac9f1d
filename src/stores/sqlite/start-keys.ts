/** Start keys: each belongs to one run of its scope, and goes with it (S6, H3). */
import type { RunId, Scope } from "../../domain/ids.ts";
import type { Post, RunKey } from "../../ports/store.ts";
import type { Connection } from "./database.ts";

interface Start {
  readonly run: RunId;
  readonly requestHash: string;
}

export function findStart(db: Connection, scope: Scope, key: string): Start | undefined {
  const sql = "SELECT run, request_hash AS requestHash FROM start_keys WHERE scope = ? AND key = ?";
  return db.get<Start>(sql, scope, key);
}

/** A key that another run has stays with that run. */
export function recordStart(db: Connection, { scope, run }: RunKey, start: NonNullable<Post["start"]>): void {
  const sql = "INSERT INTO start_keys (scope, key, run, request_hash) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
  db.run(sql, scope, start.key, run, start.requestHash);
}
