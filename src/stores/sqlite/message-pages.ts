/**
 * Pages of a thread's messages by their place in it.
 *
 * M1 A row's messages stand at `pos` + 1 and on; within a run `pos` never falls, so the row of a position is found by
 *    halving the run's seqs. A page costs its length and a few such steps, whatever thread and run hold.
 * M2 A page with `visibility` reads on until it is full: it costs what it leaves out, too.
 */
import type { RunId } from "../../domain/ids.ts";
import type { MessageList, PlacedMessage } from "../../ports/thread-store.ts";
import type { Connection } from "./database.ts";
import { bodiesIn, type FoundBody, type MessageRow, messageOf, type Sources } from "./messages.ts";
import { threadNo } from "./thread-rows.ts";

export function readMessages(db: Connection, list: MessageList): readonly PlacedMessage[] {
  const thread = threadNo(db, list);
  const found: PlacedMessage[] = [];
  if (thread === undefined) return found;
  const sources: Sources = new Map();
  for (const run of runsFrom(db, thread, list)) {
    for (const placed of placedIn(db, run, list)) {
      if (found.length >= list.limit) return found;
      const message = messageOf(db, placed, sources);
      const isShown = list.visibility === undefined || message.visibility === list.visibility;
      if (isShown) found.push({ position: placed.position, run: run.id, message });
    }
  }
  return found;
}

interface StartedRun {
  readonly no: number;
  readonly thread: number;
  readonly id: RunId;
  readonly start_pos: number;
}

const nextRun = `SELECT no, thread, id, start_pos FROM runs INDEXED BY runs_by_start
  WHERE thread = ?1 AND start_pos >= ?2 AND (start_pos, no) > (?2, ?3) ORDER BY start_pos, no LIMIT 1`;
const runBefore = `SELECT no, thread, id, start_pos FROM runs INDEXED BY runs_by_start
  WHERE thread = ?1 AND start_pos <= ?2 AND (start_pos, no) < (?2, ?3) ORDER BY start_pos DESC, no DESC LIMIT 1`;
/** A run that appended nothing may have started at the same position as one that did. */
const startOf = `SELECT max(start_pos) AS start FROM runs INDEXED BY runs_by_start
  WHERE thread = ? AND start_pos IS NOT NULL AND start_pos <= ?`;

/** Each statement is finished before the next run is asked for (D1). */
function* runsFrom(db: Connection, thread: number, { order, after }: MessageList): Generator<StartedRun> {
  const isOldest = order === "oldest";
  const start = isOldest ? (db.get<{ start: number | null }>(startOf, thread, after ?? 0)?.start ?? 0) : undefined;
  let place = { start_pos: start ?? (after ?? Number.MAX_SAFE_INTEGER) - 1, no: isOldest ? -1 : 0 };
  for (;;) {
    const run = db.get<StartedRun>(isOldest ? nextRun : runBefore, thread, place.start_pos, place.no);
    if (!run) return;
    yield run;
    place = run;
  }
}

interface Placed extends FoundBody {
  readonly position: number;
}

interface PlacedRow extends MessageRow {
  readonly pos: number;
}

const columns = "thread, run, seq, epoch, time, format, body, pos";
const rowsUp = `SELECT ${columns} FROM journal INDEXED BY journal_by_run
  WHERE thread = ? AND run = ? AND seq >= ? AND m > 0 ORDER BY seq LIMIT ?`;
const rowsDown = `SELECT ${columns} FROM journal INDEXED BY journal_by_run
  WHERE thread = ? AND run = ? AND seq <= ? AND m > 0 ORDER BY seq DESC LIMIT ?`;

function* placedIn(db: Connection, run: StartedRun, list: MessageList): Generator<Placed> {
  const [sql, step] = list.order === "oldest" ? [rowsUp, 1] : [rowsDown, -1];
  let from = firstSeq(db, run, list);
  for (;;) {
    const rows = db.all<PlacedRow>(sql, run.thread, run.no, from, list.limit);
    for (const row of rows) yield* placedOf(row, list);
    const last = rows.at(-1);
    if (!last || rows.length < list.limit) return;
    from = last.seq + step;
  }
}

function placedOf(row: PlacedRow, list: MessageList): readonly Placed[] {
  const placed = bodiesIn(row).map((found, index) => ({ ...found, position: row.pos + index + 1 }));
  const asked = placed.filter(({ position }) => isAfter(position, list));
  return list.order === "oldest" ? asked : asked.reverse();
}

function isAfter(position: number, { order, after }: MessageList): boolean {
  if (after === undefined) return true;
  return order === "oldest" ? position > after : position < after;
}

function firstSeq(db: Connection, run: StartedRun, { order, after }: MessageList): number {
  if (order === "newest") return after === undefined ? Number.MAX_SAFE_INTEGER : seqAt(db, run, after - 2);
  return after === undefined || after <= run.start_pos ? 1 : seqAt(db, run, after);
}

const rowUpTo = `SELECT seq, pos FROM journal INDEXED BY journal_by_run
  WHERE thread = ? AND run = ? AND seq <= ? AND pos IS NOT NULL ORDER BY seq DESC LIMIT 1`;

/** Seq of the last row that begins at or before a position; the run's last row is looked at first. */
function seqAt(db: Connection, run: StartedRun, position: number): number {
  let found = 1;
  let low = 1;
  let high = Number.MAX_SAFE_INTEGER;
  for (let middle = high; low <= high; middle = Math.floor((low + high) / 2)) {
    const row = db.get<{ seq: number; pos: number }>(rowUpTo, run.thread, run.no, middle);
    if (row && row.pos > position) {
      high = row.seq - 1;
      continue;
    }
    found = row?.seq ?? found;
    low = middle + 1;
  }
  return found;
}
