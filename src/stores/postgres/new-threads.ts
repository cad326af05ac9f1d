/** A thread that is created by itself, with the messages it may have from elsewhere: the journal of an ended run (H1). */
import type { RunId } from "../../domain/ids.ts";
import { entryFormat } from "../../domain/upcast.ts";
import type { NewThread, NewThreadAnswer } from "../../ports/store.ts";
import { type HistoryRun, readHistory } from "../shared/read-history.ts";
import { runTaken, startKeyTaken } from "../shared/refusals.ts";
import { type Access, storeTime, type Tx } from "./access.ts";
import { citeFirst } from "./content.ts";
import { TryAgain } from "./failures.ts";
import { type Job, keyOf } from "./jobs.ts";
import { bodyOf } from "./journal.ts";

interface Imported extends HistoryRun {
  readonly given: NonNullable<NewThread["history"]>;
  readonly birth: string;
  readonly rest: string;
}

export function newThreadJob(access: Access, thread: NewThread): Job<NewThreadAnswer> {
  const { scope, parent, history } = thread;
  const imported = history && prepare(thread, history);
  const wanted = [thread.thread, ...(parent === undefined ? [] : [parent])];
  return {
    scope,
    keys: [
      ...wanted.map((id) => `thread\n${scope}\n${id}`),
      ...(imported ? [keyOf({ scope, run: imported.run }), `start\n${scope}\n${imported.given.birth.key}`] : []),
    ],
    bytes: (imported?.birth.length ?? 0) + (imported?.rest.length ?? 0),
    needs: { threads: wanted.map((id) => ({ scope, thread: id })) },
    write: (tx) => writeThread(tx, access, { thread, imported }),
  };
}

function prepare(thread: NewThread, given: NonNullable<NewThread["history"]>): Imported {
  return { given, birth: bodyOf([given.birth.entry]), rest: bodyOf(given.rest), ...readHistory(thread, given) };
}

interface Place {
  readonly now: number;
  readonly thread: number;
  readonly run: number;
  readonly known: number | null;
  readonly parent: number | null;
  readonly first_run: RunId | null;
  readonly same_id: number | null;
}

const findPlace = `SELECT ${storeTime("$6")} AS now, nextval('hf.thread_numbers') AS thread, nextval('hf.run_numbers') AS run,
    known.no AS known, parent.no AS parent, first.run AS first_run, same.no AS same_id
  FROM (SELECT 1) AS one
    LEFT JOIN hf.threads AS known ON known.scope = $1 AND known.id = $2
    LEFT JOIN hf.threads AS parent ON parent.scope = $1 AND parent.id = $3
    LEFT JOIN hf.start_keys AS first ON first.scope = $1 AND first.key = $4
    LEFT JOIN hf.runs AS same ON same.scope = $1 AND same.id = $5`;

const insertThread = `INSERT INTO hf.threads
    (no, scope, id, parent, created_at, updated_at, position, erased, title, metadata)
  VALUES ($1, $2, $3, $4, $5::bigint, $5::bigint, $6, 0, $7, $8)`;

interface Prepared {
  readonly thread: NewThread;
  readonly imported: Imported | undefined;
}

async function writeThread(tx: Tx, access: Access, prepared: Prepared): Promise<NewThreadAnswer> {
  const { thread, imported } = prepared;
  const { scope, thread: id, title, metadata } = thread;
  const key = imported ? imported.given.birth.key : null;
  const values = [scope, id, thread.parent ?? null, key, imported?.run ?? null, access.time()];
  const place = await tx.get<Place>(findPlace, values);
  if (!place) throw new TryAgain("no answer");
  const refusal = refusalOf(tx, place, prepared);
  if (refusal) return refusal;
  const position = imported ? imported.startPosition + imported.messages : 0;
  const notes = [title === undefined ? null : JSON.stringify(title), metadata ? JSON.stringify(metadata) : null];
  await tx.run(insertThread, [place.thread, scope, id, place.parent, place.now, position, ...notes]);
  tx.threads.add(place.thread);
  if (imported) await insertHistory(tx, imported, place);
  return { kind: "created" };
}

function refusalOf(tx: Tx, place: Place, { thread, imported }: Prepared): NewThreadAnswer | undefined {
  if (place.known !== null) return { kind: "exists" };
  if (thread.parent === thread.thread) return { kind: "cycle" };
  if (thread.parent !== undefined && place.parent === null) return { kind: "parent-not-found" };
  if (place.parent !== null && !tx.threads.has(place.parent)) throw new TryAgain("the parent is new");
  if (imported && place.first_run !== null) throw startKeyTaken(imported.given.birth.key, place.first_run);
  if (imported && place.same_id !== null) throw runTaken(imported.run);
  return undefined;
}

const insertRun = `WITH new_run AS (
    INSERT INTO hf.runs (no, scope, id, thread, thread_id, agent, fingerprint, created_at, start_key, turn, queued,
      status, epoch, head, crashes, start_pos, placed, priority, ready, ended_at)
    VALUES ($1::bigint, $3::text, $4::text, $2, $5, $6, $7::text, $8::bigint, $9::text, $1::bigint, false, 'done', 0,
      1 + $10::integer, 0, $11::bigint, $11::bigint + $12::integer, 0, $8::bigint, $8::bigint)
  ), new_key AS (
    INSERT INTO hf.start_keys (scope, key, run, request_hash) VALUES ($3::text, $9::text, $4::text, $13)
  ), new_manifest AS (
    INSERT INTO hf.manifests (scope, fingerprint, body) VALUES ($3::text, $7::text, $14) ON CONFLICT DO NOTHING
  )
  INSERT INTO hf.journal (at, scope, run, seq, n, time, pos, m, format, body)
  SELECT nextval('hf.positions'), $3::text, $1::bigint, seq, n, $8::bigint, pos, m, ${entryFormat}, body
  FROM (VALUES (1, 1, NULL, 0, $15::text), (2, $10::integer, $11::bigint, $12::integer, $16::text))
    AS added (seq, n, pos, m, body) ORDER BY seq`;

async function insertHistory(tx: Tx, imported: Imported, place: Place): Promise<void> {
  const { birth, rest } = imported.given;
  const { scope, run, thread, agent } = birth.entry.identity;
  const identity = [place.run, place.thread, scope, run, thread, agent, birth.entry.manifest.fingerprint];
  const journal = [rest.length, imported.startPosition, imported.messages];
  const bodies = [birth.requestHash, JSON.stringify(birth.manifest), imported.birth, imported.rest];
  await tx.run(insertRun, [...identity, place.now, birth.key, ...journal, ...bodies]);
  await citeFirst(tx, place.run, { scope, run, entries: [birth.entry, ...rest] });
}
