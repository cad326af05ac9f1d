/**
 * Birth: the run, its place on the thread, its start key, its manifest and its first entry in one transaction (S4). What
 * happens to a thread that has an active run is decided under the thread's lock, where nothing can come between.
 *
 * B1 A thread that is there but was not when the group took its locks: the group begins anew.
 * B2 Two births of one key, run id or new thread in two transactions meet in a unique index: one waits, is undone, and
 *    finds the other's rows when it is tried again.
 */
import type { RunId } from "../../domain/ids.ts";
import type { RunStatus } from "../../domain/run.ts";
import { entryFormat } from "../../domain/upcast.ts";
import type { Birth } from "../../ports/birth.ts";
import type { BirthAnswer } from "../../ports/store.ts";
import { isRefused, takeover } from "../shared/busy-rule.ts";
import { firstDue } from "../shared/first-due.ts";
import { type Access, storeTime, type Tx } from "./access.ts";
import { citeFirst } from "./content.ts";
import { TryAgain } from "./failures.ts";
import { birthKeys, type Job } from "./jobs.ts";
import { bodyOf } from "./journal.ts";
import { listTickets } from "./tickets.ts";

/** Manifests that are certainly stored need not be sent again. */
export interface KnownManifests {
  has(birth: Birth): boolean;
}

export function birthJob(access: Access, birth: Birth, manifests: KnownManifests): Job<BirthAnswer> {
  const { scope, thread } = birth.entry.identity;
  const body = bodyOf([birth.entry]);
  const manifest = manifests.has(birth) ? null : JSON.stringify(birth.manifest);
  return {
    scope,
    keys: birthKeys(birth),
    bytes: body.length,
    needs: { threads: [{ scope, thread }] },
    write: (tx) => writeBirth(tx, access, { birth, body, manifest }),
  };
}

interface Prepared {
  readonly birth: Birth;
  readonly body: string;
  readonly manifest: string | null;
}

interface Place {
  readonly now: number;
  readonly no: number;
  readonly new_thread: number;
  readonly first_run: RunId | null;
  readonly first_hash: string;
  readonly same_id: number | null;
  readonly thread: number | null;
  readonly active: number | null;
  readonly active_id: RunId;
  readonly active_status: RunStatus;
}

const findPlace = `SELECT ${storeTime("$5")} AS now, nextval('hf.run_numbers') AS no,
    CASE WHEN owner.no IS NULL THEN nextval('hf.thread_numbers') ELSE owner.no END AS new_thread,
    first.run AS first_run, first.request_hash AS first_hash, same.no AS same_id, owner.no AS thread,
    active.no AS active, active.id AS active_id, active.status AS active_status
  FROM (SELECT 1) AS one
    LEFT JOIN hf.start_keys AS first ON first.scope = $1 AND first.key = $2
    LEFT JOIN hf.runs AS same ON same.scope = $1 AND same.id = $3
    LEFT JOIN hf.threads AS owner ON owner.scope = $1 AND owner.id = $4
    LEFT JOIN hf.runs AS active ON active.no = owner.active`;

async function writeBirth(tx: Tx, access: Access, prepared: Prepared): Promise<BirthAnswer> {
  const { birth } = prepared;
  const { scope, run, thread } = birth.entry.identity;
  const place = await tx.get<Place>(findPlace, [scope, birth.key, run, thread, access.time()]);
  if (!place) throw new TryAgain("no answer");
  if (place.first_run !== null) {
    return { kind: place.first_hash === birth.requestHash ? "existing" : "conflict", run: place.first_run };
  }
  if (place.same_id !== null) return { kind: "run-exists" };
  if (!(await isWanted(tx, birth))) return { kind: "unwanted" };
  if (place.thread !== null && !tx.threads.has(place.thread)) throw new TryAgain("the thread is new"); // B1
  const isQueued = place.active !== null;
  if (isQueued && isRefused(birth.whenBusy, place.active_status)) return busy(tx, birth, place);
  if (isQueued) await askToEnd(tx, birth, place);
  await insertBirth(tx, place, { ...prepared, isQueued });
  return { kind: "created", queued: isQueued };
}

const findOpenTicket = "SELECT 1 AS open FROM hf.tickets WHERE scope = $1 AND id = $2 AND settlement IS NULL";

/** S14. */
async function isWanted(tx: Tx, { entry }: Birth): Promise<boolean> {
  const { delegated, identity } = entry;
  if (!delegated) return true;
  return (await tx.get<{ open: number }>(findOpenTicket, [identity.scope, delegated.ticket])) !== undefined;
}

async function busy(tx: Tx, birth: Birth, place: Place): Promise<BirthAnswer> {
  const { active_id: run, active_status: status } = place;
  const open = await listTickets(tx, { scope: birth.entry.identity.scope, run, status: "open", limit: null });
  return { kind: "busy", active: { run, status, tickets: open.map((row) => row.ticket) } };
}

/** One request to cancel is enough: a second one would change nothing. */
const cancel = `WITH asked AS (
    UPDATE hf.runs SET head = head + 1, cancel_seq = head + 1, wake = $2::bigint WHERE no = $1 AND cancel_seq IS NULL
    RETURNING scope, no, head
  )
  INSERT INTO hf.journal (at, scope, run, seq, n, time, m, format, body)
  SELECT nextval('hf.positions'), scope, no, head, 1, $2::bigint, 0, ${entryFormat}, $3::text FROM asked`;

async function askToEnd(tx: Tx, birth: Birth, place: Place): Promise<void> {
  const request = takeover(birth);
  if (request) await tx.run(cancel, [place.active, place.now, bodyOf([request])]);
}

const insert = (taken: "" | "ON CONFLICT DO NOTHING"): string => `WITH new_thread AS (
    INSERT INTO hf.threads (no, scope, id, created_at, updated_at, position, erased, active, parent)
    SELECT $2::bigint, $3::text, $5::text, $8::bigint, $8::bigint, 0, 0, $1::bigint,
      (SELECT above.no FROM hf.threads AS above WHERE above.scope = $3::text AND above.id = $19::text)
    WHERE $14::boolean
  ), joined AS (
    UPDATE hf.threads SET active = coalesce(active, $1::bigint), updated_at = $8::bigint
    WHERE no = $2::bigint AND NOT $14::boolean
  ), new_run AS (
    INSERT INTO hf.runs (no, scope, id, thread, thread_id, agent, fingerprint, created_at, start_key, turn, queued,
      status, epoch, head, crashes, placed, priority, ready, wake, parent_run)
    VALUES ($1::bigint, $3::text, $4::text, $2::bigint, $5::text, $6, $7::text, $8::bigint, $9::text, $10, $11,
      'created', 0, 1, 0, 0, $16, $17, $18, $20)
  ), new_key AS (
    INSERT INTO hf.start_keys (scope, key, run, request_hash) VALUES ($3::text, $9::text, $4::text, $12) ${taken}
  ), new_manifest AS (
    INSERT INTO hf.manifests (scope, fingerprint, body)
    SELECT $3::text, $7::text, $15::text WHERE $15::text IS NOT NULL ON CONFLICT DO NOTHING
  )
  INSERT INTO hf.journal (at, scope, run, seq, n, time, m, format, body)
  VALUES (nextval('hf.positions'), $3::text, $1::bigint, 1, 1, $8::bigint, 0, ${entryFormat}, $13)`;

interface NewRun extends Prepared {
  readonly isQueued: boolean;
  /** A start key that another run has: an error, unless it may stay with that run. */
  readonly onTakenKey?: "ON CONFLICT DO NOTHING";
}

type NewPlace = Pick<Place, "no" | "new_thread" | "thread" | "now">;

export async function insertBirth(tx: Tx, place: NewPlace, added: NewRun): Promise<void> {
  const { birth, body, manifest, isQueued } = added;
  const { scope, run, thread, agent, parentThread = null, parentRun = null } = birth.entry.identity;
  const turn = isQueued && takeover(birth) ? -place.no : place.no;
  const identity = [place.no, place.new_thread, scope, run, thread, agent, birth.entry.manifest.fingerprint];
  const rest = [place.now, birth.key, turn, isQueued, birth.requestHash, body, place.thread === null, manifest];
  const { priority, ready, wake = null } = firstDue(birth, place.now);
  await tx.run(insert(added.onTakenKey ?? ""), [...identity, ...rest, priority, ready, wake, parentThread, parentRun]);
  tx.threads.add(place.new_thread);
  await citeFirst(tx, place.no, { scope, run, entries: [birth.entry] });
}
