/** The state of a thread: one row per key, replaced by the commit that changes it (H6). */
import type { JsonValue } from "../../domain/json.ts";
import type { RowChanges, StateSlot } from "../../domain/row-changes.ts";
import type { RunKey } from "../../ports/store.ts";
import type { ThreadKey } from "../../ports/thread-store.ts";
import { notItsThread } from "../shared/refusals.ts";
import type { Connection } from "./database.ts";
import type { Place } from "./places.ts";

const put = `INSERT INTO thread_state (thread, key, version, value) VALUES (?1, ?2, ?3, ?4)
  ON CONFLICT DO UPDATE SET version = ?3, value = ?4`;

/** Before the end of the run is written: with it the thread goes to another. */
export function writeState(
  db: Connection,
  place: Place,
  { run, slots }: Pick<RunKey, "run"> & Pick<RowChanges, "slots">,
): void {
  if (slots.length === 0) return;
  const owner = db.get<{ queued: number }>("SELECT queued FROM runs WHERE no = ?", place.no);
  if (owner?.queued !== 0) throw notItsThread(run);
  for (const { key, version, value } of slots) db.run(put, place.thread, key, version, JSON.stringify(value));
}

export const findState = `SELECT key, version, value FROM thread_state
  WHERE thread = (SELECT no FROM threads WHERE scope = ? AND id = ?) ORDER BY key`;

export function readState(db: Connection, { scope, thread }: ThreadKey): readonly StateSlot[] {
  const rows = db.all<{ key: string; version: number; value: string }>(findState, scope, thread);
  return rows.map(({ key, version, value }) => ({ key, version, value: JSON.parse(value) as JsonValue }));
}
