/**
 * The successor of a run that ends: its row, its start key and its first entry, in the ending commit's transaction (S8).
 * Whether it may be born is looked at before anything is written, under the locks of run and thread.
 */
import type { ThreadId } from "../../domain/ids.ts";
import type { Birth } from "../../ports/birth.ts";
import { checkSuccessor } from "../shared/check-successor.ts";
import { runTaken } from "../shared/refusals.ts";
import type { Tx } from "./access.ts";
import { insertBirth } from "./births.ts";
import type { PreparedCommit } from "./commit-rows.ts";
import { bodyOf } from "./journal.ts";

interface Ending {
  readonly thread: ThreadId;
  readonly queued: boolean;
  readonly is_taken: boolean;
}

/** No row for a commit that is refused for another reason. */
const findEnding = `SELECT thread_id AS thread, queued,
    EXISTS (SELECT FROM hf.runs AS same WHERE same.scope = $1 AND same.id = $5) AS is_taken
  FROM hf.runs WHERE scope = $1 AND id = $2 AND epoch = $3 AND head = $4 AND status <> 'done'`;

/** Throws when it may not be born. */
export async function checkBirth(tx: Tx, { commit, changes }: PreparedCommit): Promise<void> {
  const { scope, run, epoch, expectedSeq, successor, entries } = commit;
  const born = successor?.entry.identity.run;
  if (born === undefined || entries.length === 0) return;
  const row = await tx.get<Ending>(findEnding, [scope, run, epoch, expectedSeq, born]);
  if (!row) return;
  checkSuccessor(commit, { ...row, status: changes.status });
  if (row.is_taken) throw runTaken(born);
}

/** Answers its number. */
export async function insertSuccessor(
  tx: Tx,
  birth: Birth,
  place: { readonly thread: number; readonly now: number },
): Promise<number> {
  const row = await tx.get<{ no: number }>("SELECT nextval('hf.run_numbers') AS no");
  const no = row?.no ?? 0;
  const added = { birth, body: bodyOf([birth.entry]), manifest: JSON.stringify(birth.manifest), isQueued: false };
  const own = { no, new_thread: place.thread, thread: place.thread, now: place.now };
  await insertBirth(tx, own, { ...added, onTakenKey: "ON CONFLICT DO NOTHING" });
  return no;
}
