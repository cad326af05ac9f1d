/** The successor of a run that ends: its row, its start key and its first entry, in the ending commit's transaction (S8). */
import type { ThreadId } from "../../domain/ids.ts";
import type { RunStatus } from "../../domain/run.ts";
import type { Birth } from "../../ports/birth.ts";
import type { Commit } from "../../ports/store.ts";
import { checkSuccessor } from "../shared/check-successor.ts";
import { runTaken } from "../shared/refusals.ts";
import type { Access } from "./access.ts";
import { insertRunRow, nextRunNo, storeBirth } from "./births.ts";
import type { Connection } from "./database.ts";
import { bodyOf, insertFact } from "./journal.ts";
import type { Place } from "./places.ts";

const readEnding = "SELECT thread_id AS thread, queued FROM runs WHERE no = ?";

export function checkBirth(
  db: Connection,
  place: Place,
  ending: { commit: Commit; status: RunStatus | undefined },
): void {
  const { commit, status } = ending;
  if (!commit.successor) return;
  const row = db.get<{ thread: ThreadId; queued: number }>(readEnding, place.no);
  if (row) checkSuccessor(commit, { thread: row.thread, queued: row.queued === 1, status });
}

/** Answers its number. */
export function writeSuccessor(access: Access, place: Place, born: { birth: Birth; time: number }): number {
  const { db } = access;
  const { birth, time } = born;
  const no = nextRunNo(db);
  const own = { no, thread: place.thread };
  if (!insertRunRow(db, own, { birth, time, turn: no, isQueued: false })) throw runTaken(birth.entry.identity.run);
  insertFact(db, own, { seq: 1, time, body: bodyOf([birth.entry]) });
  storeBirth(access, no, birth);
  return no;
}
