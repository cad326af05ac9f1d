/**
 * The newest messages of a thread, through its runs by start position and the journal's one index: the rows touched
 * are those of the window, whatever the thread holds.
 */
import type { Entry, MessageBody } from "../../domain/entry.ts";
import type { Message } from "../../domain/message.ts";
import type { ReadThread } from "../../ports/store.ts";
import { messageFrom, sourceSeq } from "../shared/message-source.ts";
import type { Connection } from "./database.ts";
import { entriesIn, entryAt, type JournalRow } from "./journal.ts";

export const readNewest = `SELECT journal.thread, journal.run, seq, journal.epoch, time, format, body
  FROM runs INDEXED BY runs_by_start CROSS JOIN journal INDEXED BY journal_by_run
    ON journal.thread = runs.thread AND journal.run = runs.no
  WHERE runs.thread = (SELECT no FROM threads WHERE scope = ? AND id = ?) AND start_pos IS NOT NULL AND m > 0
  ORDER BY start_pos DESC, runs.no DESC, seq DESC LIMIT ?`;

export interface MessageRow extends JournalRow {
  readonly thread: number;
  readonly run: number;
}

export interface FoundBody {
  readonly row: MessageRow;
  readonly body: MessageBody;
}

export function readThread(db: Connection, { scope, thread, limit }: ReadThread): readonly Message[] {
  // Every row has at least one message, so as many rows as messages are always enough.
  const rows = db.all<MessageRow>(readNewest, scope, thread, limit);
  const newestFirst: FoundBody[] = [];
  for (const row of rows) {
    if (newestFirst.length >= limit) break;
    newestFirst.push(...bodiesIn(row).reverse());
  }
  const sources: Sources = new Map();
  return newestFirst
    .slice(0, limit)
    .reverse()
    .map((found) => messageOf(db, found, sources));
}

export function bodiesIn(row: MessageRow): FoundBody[] {
  return entriesIn(row).flatMap((entry) => (entry.type === "message-appended" ? [{ row, body: entry.body }] : []));
}

/** Entries that brought bodies in, by run and seq. */
export type Sources = Map<string, Entry | undefined>;

/** A body that came in with a birth or an input lies in that entry; each such entry is read once. */
export function messageOf(db: Connection, { row, body }: FoundBody, sources: Sources): Message {
  if (body.kind === "here") return body.message;
  const seq = sourceSeq(body);
  const name = `${row.run}.${seq}`;
  if (!sources.has(name)) sources.set(name, entryAt(db, { no: row.run, thread: row.thread }, seq));
  return messageFrom(sources.get(name), body);
}
