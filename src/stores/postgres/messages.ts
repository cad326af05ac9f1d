/**
 * Messages of a thread, through its runs by start position and each run's journal by thread position.
 *
 * M1 A row's messages stand at `pos` + 1 and on; within a run `pos` never falls. A page walks two indexes from its place
 *    on and costs its length, whatever thread and run hold.
 * M2 A page with `visibility` reads on until it is full: it costs what it leaves out, too.
 * M3 A body that came in with a birth or an input lies in that entry; each such entry is read once per page.
 */
import type { Entry, MessageBody } from "../../domain/entry.ts";
import type { RunId } from "../../domain/ids.ts";
import type { Message } from "../../domain/message.ts";
import type { ReadThread } from "../../ports/store.ts";
import type { MessageList, PlacedMessage } from "../../ports/thread-store.ts";
import { messageFrom, sourceSeq } from "../shared/message-source.ts";
import type { Queries } from "./database.ts";
import { entriesIn, type JournalRow } from "./journal.ts";

interface MessageRow extends JournalRow {
  readonly run: number;
  readonly id: RunId;
  readonly start_pos: number;
  readonly pos: number;
}

const columns =
  "owner.no AS run, owner.id, owner.start_pos, row.pos, row.seq, row.epoch, row.time, row.format, row.body";
const thread = "(SELECT no FROM hf.threads WHERE scope = $1 AND id = $2)";

/** Rows that hold messages after position $3, from the row ($6, $7) of run ($4, $5) on. */
const rowsUp = `SELECT ${columns} FROM hf.runs AS owner CROSS JOIN LATERAL (
    SELECT * FROM hf.journal WHERE run = owner.no AND m > 0 AND pos + m > $3::bigint
      AND pos >= coalesce((SELECT max(pos) FROM hf.journal WHERE run = owner.no AND m > 0 AND pos < $3::bigint), 0)
      AND pos >= CASE WHEN owner.no = $5 THEN $6::bigint ELSE 0 END AND (owner.no <> $5 OR seq > $7)
    ORDER BY pos, seq LIMIT $8) AS row
  WHERE owner.thread = ${thread} AND (owner.start_pos, owner.no) >= ($4::bigint, $5::bigint)
    AND owner.start_pos >= coalesce((SELECT max(start_pos) FROM hf.runs WHERE thread = ${thread} AND start_pos <= $3::bigint), 0)
  ORDER BY owner.start_pos, owner.no, row.pos, row.seq LIMIT $8`;

/** Rows that hold messages before position $3, from the row ($6, $7) of run ($4, $5) back. */
export const rowsDown = `SELECT ${columns} FROM hf.runs AS owner CROSS JOIN LATERAL (
    SELECT * FROM hf.journal WHERE run = owner.no AND m > 0 AND pos < $3::bigint - 1
      AND pos <= CASE WHEN owner.no = $5 THEN $6::bigint ELSE $3::bigint END AND (owner.no <> $5 OR seq < $7)
    ORDER BY pos DESC, seq DESC LIMIT $8) AS row
  WHERE owner.thread = ${thread} AND (owner.start_pos, owner.no) <= ($4::bigint, $5::bigint)
    AND owner.start_pos < $3::bigint - 1
  ORDER BY owner.start_pos DESC, owner.no DESC, row.pos DESC, row.seq DESC LIMIT $8`;

export async function readThread(db: Queries, request: ReadThread): Promise<readonly Message[]> {
  const found = await readMessages(db, { ...request, order: "newest" });
  return found.map(({ message }) => message).reverse();
}

/** Where a page begins: a run by start position and number, and a row of it by position and seq. */
type Place = readonly [start: number, no: number, pos: number, seq: number];

const far = Number.MAX_SAFE_INTEGER;
const beginnings: Readonly<Record<MessageList["order"], Place>> = {
  oldest: [0, 0, 0, 0],
  newest: [far, far, far, far],
};

export async function readMessages(db: Queries, list: MessageList): Promise<readonly PlacedMessage[]> {
  const found: PlacedMessage[] = [];
  let place = beginnings[list.order];
  while (found.length < list.limit) {
    const rows = await rowsFrom(db, list, place);
    const placed = await bodiesOf(
      db,
      rows.flatMap((row) => placedIn(row, list)),
    );
    found.push(...placed.filter(({ message }) => (list.visibility ?? message.visibility) === message.visibility));
    const last = rows.at(-1);
    if (!last || rows.length < list.limit) break;
    place = [last.start_pos, last.run, last.pos, last.seq];
  }
  return found.slice(0, list.limit);
}

/** Every row has at least one message, so as many rows as messages are always enough. */
function rowsFrom(db: Queries, list: MessageList, place: Place): Promise<readonly MessageRow[]> {
  const [sql, after] = list.order === "oldest" ? [rowsUp, list.after ?? 0] : [rowsDown, list.after ?? far];
  return db.all<MessageRow>(sql, [list.scope, list.thread, after, ...place, list.limit]);
}

interface Placed {
  readonly row: MessageRow;
  readonly position: number;
  readonly body: MessageBody;
}

function placedIn(row: MessageRow, list: MessageList): readonly Placed[] {
  const bodies = entriesIn(row).flatMap((entry) => (entry.type === "message-appended" ? [entry.body] : []));
  const placed = bodies.map((body, index) => ({ row, body, position: row.pos + index + 1 }));
  const asked = placed.filter(({ position }) => isAfter(position, list));
  return list.order === "oldest" ? asked : asked.reverse();
}

function isAfter(position: number, { order, after }: MessageList): boolean {
  if (after === undefined) return true;
  return order === "oldest" ? position > after : position < after;
}

const findSources = `SELECT wanted.run, wanted.at_seq, row.seq, row.epoch, row.time, row.format, row.body
  FROM unnest($1::bigint[], $2::bigint[]) AS wanted (run, at_seq) CROSS JOIN LATERAL (
    SELECT * FROM hf.journal WHERE run = wanted.run AND seq <= wanted.at_seq ORDER BY seq DESC LIMIT 1) AS row`;

/** M3. */
async function bodiesOf(db: Queries, placed: readonly Placed[]): Promise<readonly PlacedMessage[]> {
  const cited = new Map<string, readonly [number, number]>();
  for (const { row, body } of placed) {
    if (body.kind !== "here") cited.set(`${row.run}.${sourceSeq(body)}`, [row.run, sourceSeq(body)]);
  }
  const sources = cited.size === 0 ? new Map<string, Entry>() : await entriesAt(db, [...cited.values()]);
  return placed.map(({ row, position, body }) => {
    const message =
      body.kind === "here" ? body.message : messageFrom(sources.get(`${row.run}.${sourceSeq(body)}`), body);
    return { position, run: row.id, message };
  });
}

async function entriesAt(
  db: Queries,
  places: readonly (readonly [number, number])[],
): Promise<ReadonlyMap<string, Entry>> {
  const values = [places.map(([run]) => run), places.map(([, seq]) => seq)];
  const rows = await db.all<JournalRow & { run: number; at_seq: number }>(findSources, values);
  const found = new Map<string, Entry>();
  for (const row of rows) {
    const entry = entriesIn(row).find(({ seq }) => seq === row.at_seq);
    if (entry) found.set(`${row.run}.${row.at_seq}`, entry);
  }
  return found;
}
