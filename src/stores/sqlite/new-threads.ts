/** A thread that is created by itself, with the messages it may have from elsewhere: the journal of an ended run (H1). */
import type { NewThread, NewThreadAnswer } from "../../ports/store.ts";
import { type HistoryRun, readHistory } from "../shared/read-history.ts";
import { runTaken, startKeyTaken } from "../shared/refusals.ts";
import type { Access } from "./access.ts";
import { insertRunRow, nextRunNo, storeBirth } from "./births.ts";
import { citeFirst } from "./content.ts";
import type { Job } from "./group.ts";
import { bodyOf, insertFact, insertHistory } from "./journal.ts";
import { findStart } from "./start-keys.ts";
import { nextThreadNo, threadNo, writeNotes } from "./thread-rows.ts";

interface Prepared {
  readonly thread: NewThread;
  readonly history: Imported | undefined;
}

interface Imported extends HistoryRun {
  readonly given: NonNullable<NewThread["history"]>;
  readonly birth: string;
  readonly rest: string;
}

export function newThreadJob(access: Access, thread: NewThread): Job<NewThreadAnswer> {
  const history = thread.history && prepare(thread, thread.history);
  const bytes = (history?.birth.length ?? 0) + (history?.rest.length ?? 0);
  return { bytes, write: () => writeThread(access, { thread, history }) };
}

function prepare(thread: NewThread, given: NonNullable<NewThread["history"]>): Imported {
  return { given, birth: bodyOf([given.birth.entry]), rest: bodyOf(given.rest), ...readHistory(thread, given) };
}

const insertThread = `INSERT INTO threads (no, scope, id, parent, created_at, updated_at, position, erased)
  VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, 0)`;

function writeThread(access: Access, { thread, history }: Prepared): NewThreadAnswer {
  const { db } = access;
  const { scope, thread: id } = thread;
  if (threadNo(db, thread) !== undefined) return { kind: "exists" };
  if (thread.parent === id) return { kind: "cycle" };
  const parent = thread.parent === undefined ? null : threadNo(db, { scope, thread: thread.parent });
  if (parent === undefined) return { kind: "parent-not-found" };
  const no = nextThreadNo(db);
  const time = access.now();
  const position = history ? history.startPosition + history.messages : 0;
  db.run(insertThread, no, scope, id, parent, time, position);
  writeNotes(db, no, thread);
  if (history) writeHistory(access, history, { thread: no, time });
  return { kind: "created" };
}

function writeHistory(
  access: Access,
  history: Imported,
  place: { readonly thread: number; readonly time: number },
): void {
  const { db } = access;
  const { time, thread } = place;
  const { birth, rest } = history.given;
  const { scope } = birth.entry.identity;
  const first = findStart(db, scope, birth.key);
  if (first) throw startKeyTaken(birth.key, first.run);
  const no = nextRunNo(db);
  const added = { birth, time, turn: no, isQueued: false, endedFrom: history.startPosition };
  if (!insertRunRow(db, { no, thread }, added)) throw runTaken(history.run);
  db.run("UPDATE runs SET ended_at = ? WHERE no = ?", time, no);
  insertFact(db, { no, thread }, { seq: 1, time, body: history.birth });
  const row = { seq: 2, n: rest.length, time, pos: history.startPosition, m: history.messages, body: history.rest };
  insertHistory(db, { no, thread }, row);
  storeBirth(access, no, birth);
  citeFirst(db, { no }, { ...birth.entry.identity, entries: rest });
}
