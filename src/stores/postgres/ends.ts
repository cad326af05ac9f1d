/** S8: what the end of a run does to its thread, which the transaction holds. */
import type { Tx } from "./access.ts";

/** A run that ends while it is queued leaves the thread to its active run. */
const end = `WITH left_queue AS (UPDATE hf.runs SET queued = false WHERE no = $1 AND queued RETURNING no),
  next AS MATERIALIZED (
    SELECT no FROM hf.runs WHERE thread = $2 AND queued AND NOT EXISTS (SELECT FROM left_queue) ORDER BY turn LIMIT 1
  ),
  promoted AS (UPDATE hf.runs SET queued = false FROM next WHERE runs.no = next.no)
  UPDATE hf.threads SET updated_at = $4,
    position = CASE WHEN EXISTS (SELECT FROM left_queue) THEN position ELSE greatest(position, $3) END,
    active = CASE WHEN EXISTS (SELECT FROM left_queue) THEN active ELSE (SELECT no FROM next) END
  WHERE no = $2`;

export interface EndedRun {
  readonly no: number;
  readonly thread: number;
  /** Thread position after it. */
  readonly position: number;
  readonly at: number;
}

export async function endRun(tx: Tx, { no, thread, position, at }: EndedRun): Promise<void> {
  await tx.run(end, [no, thread, position, at]);
}
