/** S8: what the end of a run does to its thread, which the transaction holds. */
import type { Tx } from "./access.ts";
import { insertSuccessor } from "./successors.ts";
import type { TakenCommit } from "./ticket-rows.ts";

/** A run that ends while it is queued leaves the thread to its active run. */
const end = `WITH left_queue AS (UPDATE hf.runs SET queued = false WHERE no = $1 AND queued RETURNING no),
  next AS MATERIALIZED (
    SELECT coalesce($5::bigint, (
      SELECT no FROM hf.runs WHERE thread = $2 AND queued AND NOT EXISTS (SELECT FROM left_queue) ORDER BY turn LIMIT 1
    )) AS no
  ),
  promoted AS (UPDATE hf.runs SET queued = false, ready = greatest(ready, $4) FROM next WHERE runs.no = next.no)
  UPDATE hf.threads SET updated_at = $4,
    position = CASE WHEN EXISTS (SELECT FROM left_queue) THEN position ELSE greatest(position, $3) END,
    active = CASE WHEN EXISTS (SELECT FROM left_queue) THEN active ELSE (SELECT no FROM next) END
  WHERE no = $2`;

export async function endRun(tx: Tx, ended: TakenCommit): Promise<void> {
  const { commit, changes, no, thread, at } = ended;
  const born = commit.successor ? await insertSuccessor(tx, commit.successor, { thread, now: at }) : null;
  await tx.run(end, [no, thread, commit.position + changes.messages, at, born]);
}
