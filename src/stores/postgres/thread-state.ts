/** The state of a thread: one row per key, replaced by the commit that changes it (H6). */
import type { JsonValue } from "../../domain/json.ts";
import type { StateSlot } from "../../domain/row-changes.ts";
import type { ThreadKey } from "../../ports/thread-store.ts";
import { notItsThread } from "../shared/refusals.ts";
import type { Tx } from "./access.ts";
import type { Queries } from "./database.ts";
import { columnsOf, type TakenCommit } from "./ticket-rows.ts";

/** The runs are held. Of a thread at most one of them is not queued, so that no row is written twice. */
const put = `INSERT INTO hf.thread_state (thread, key, version, value)
  SELECT thread, key, version, value
  FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::integer[], $5::text[]) AS slot (run, thread, key, version, value)
  WHERE NOT (SELECT queued FROM hf.runs WHERE no = slot.run)
  ON CONFLICT (thread, key) DO UPDATE SET version = excluded.version, value = excluded.value`;
const findQueued = "SELECT id FROM hf.runs WHERE no = ANY ($1::bigint[]) AND queued ORDER BY no LIMIT 1";

/**
 * One statement for all commits of a group, before any of them ends its run: with the end the thread goes to another. One
 * whose turn on the thread comes by a neighbour's end is refused here and taken when it is tried alone.
 */
export async function writeState(tx: Tx, taken: readonly TakenCommit[]): Promise<void> {
  const rows = taken.flatMap(({ changes, no, thread }) =>
    changes.slots.map(({ key, version, value }) => [no, thread, key, version, JSON.stringify(value)]),
  );
  if (rows.length === 0) return;
  if ((await tx.run(put, columnsOf(rows))) === rows.length) return;
  const queued = await tx.get<{ id: string }>(findQueued, [rows.map(([no]) => no)]);
  throw notItsThread(queued?.id ?? "");
}

const findState = `SELECT key, version, value FROM hf.thread_state
  WHERE thread = (SELECT no FROM hf.threads WHERE scope = $1 AND id = $2) ORDER BY key`;

export async function readState(db: Queries, { scope, thread }: ThreadKey): Promise<readonly StateSlot[]> {
  const rows = await db.all<{ key: string; version: number; value: string }>(findState, [scope, thread]);
  return rows.map(({ key, version, value }) => ({ key, version, value: JSON.parse(value) as JsonValue }));
}
