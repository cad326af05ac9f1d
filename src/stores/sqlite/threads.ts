/**
 * The newest messages of a thread, through its runs by start position and the journal's one index: the rows touched
 * are those of the window, whatever the thread holds.
 */
import type { Entry, MessageBody } from "../../domain/entry.ts";
import { HoldfastError } from "../../domain/errors.ts";
import type { Message } from "../../domain/message.ts";
import type { ReadThread } from "../../ports/store.ts";
import type { Connection } from "./database.ts";
import { entriesIn, entryAt, type JournalRow } from "./journal.ts";

export const readNewest = `SELECT journal.thread, journal.run, seq, journal.epoch, time, format, body
  FROM runs INDEXED BY runs_by_start CROSS JOIN journal INDEXED BY journal_by_run
    ON journal.thread = runs.thread AND journal.run = runs.no
  WHERE runs.thread = (SELECT no FROM threads WHERE scope = ? AND id = ?) AND start_pos IS NOT NULL AND m > 0
  ORDER BY start_pos DESC, runs.no DESC, seq DESC LIMIT ?`;

interface ThreadRow extends JournalRow {
  readonly thread: number;
  readonly run: number;
}

interface Found {
  readonly row: ThreadRow;
  readonly body: MessageBody;
}

export function readThread(db: Connection, { scope, thread, limit }: ReadThread): readonly Message[] {
  // Every row has at least one message, so as many rows as messages are always enough.
  const rows = db.all<ThreadRow>(readNewest, scope, thread, limit);
  const newestFirst: Found[] = [];
  for (const row of rows) {
    if (newestFirst.length >= limit) break;
    newestFirst.push(...messagesIn(row));
  }
  const sources = new Map<string, Entry | undefined>();
  return newestFirst
    .slice(0, limit)
    .reverse()
    .map((found) => messageOf(db, found, sources));
}

function messagesIn(row: ThreadRow): readonly Found[] {
  const found: Found[] = [];
  for (const entry of entriesIn(row)) {
    if (entry.type === "message-appended") found.unshift({ row, body: entry.body });
  }
  return found;
}

/** A body that came in with a birth or an input lies in that entry; each such entry is read once. */
function messageOf(db: Connection, { row, body }: Found, sources: Map<string, Entry | undefined>): Message {
  if (body.kind === "here") return body.message;
  const seq = body.kind === "created" ? 1 : body.from;
  const name = `${row.run}.${seq}`;
  if (!sources.has(name)) sources.set(name, entryAt(db, { no: row.run, thread: row.thread }, seq));
  const message = messageAt(sources.get(name), body);
  if (!message) throw new HoldfastError("entry-unreadable", `A message points to entry ${seq}, which holds none`);
  return message;
}

function messageAt(source: Entry | undefined, body: MessageBody): Message | undefined {
  if (source?.type === "run-created" && body.kind === "created") return source.input[body.index];
  return source?.type === "input-received" ? source.message : undefined;
}
