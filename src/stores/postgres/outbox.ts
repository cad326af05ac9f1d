/** The outbox (O1–O5): rows are taken and ended by one statement each, so that several processes may do it at once. */
import type { Scope } from "../../domain/ids.ts";
import type {
  Delivery,
  DeliveryEnd,
  DeliveryScopesRequest,
  Lane,
  OutboxStore,
  PendingDelivery,
  ReviveRequest,
  TakeDeliveries,
  TakenDelivery,
} from "../../ports/outbox-store.ts";
import type { RunKey } from "../../ports/store.ts";
import {
  deadBody,
  laneName,
  laneOf,
  mostDeliveries,
  type OutboxRow,
  pendingFrom,
  revivable,
  revivedBody,
  takenFrom,
} from "../shared/outbox-rows.ts";
import { type Access, storeTime, type Tx } from "./access.ts";
import type { Queries } from "./database.ts";
import { type Calls, type Job, keyOf } from "./jobs.ts";
import { readEvidence } from "./reads.ts";
import { columnsOf, type TakenCommit } from "./ticket-rows.ts";

export function outboxOf(access: Access, { write, read }: Calls): OutboxStore {
  return {
    takeDeliveries: (request) => write(() => takeDeliveriesJob(access, request)),
    endDelivery: (end) => write(() => endDeliveryJob(access, end)),
    nextDelivery: (lane) => read((db) => nextDelivery(db, lane)),
    deliveryScopes: (request) => read((db) => deliveryScopes(db, request)),
    reviveDeliveries: (request) => write(() => reviveJob(access, request)),
    deliveries: (source) => read((db) => readDeliveries(db, source)),
  };
}

const insertDeliveries = `INSERT INTO hf.outbox (run, seq, idx, scope, lane, due, attempts, body)
  SELECT run, seq, idx, scope, lane, due, 0, body
  FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::text[], $5::text[], $6::bigint[], $7::text[])
    AS caused (run, seq, idx, scope, lane, due, body)`;

export async function addDeliveries(tx: Tx, taken: readonly TakenCommit[]): Promise<void> {
  const rows = taken.flatMap(({ commit, no, at }) =>
    (commit.deliveries ?? []).map((delivery, index) => {
      const place = [no, commit.expectedSeq + 1, index, commit.scope, laneOf(delivery)];
      return [...place, delivery.due ?? at, JSON.stringify(delivery)];
    }),
  );
  if (rows.length > 0) await tx.run(insertDeliveries, columnsOf(rows));
}

/**
 * What another transaction holds is passed over: it is being taken or ended. Numbers as an array: a server that guesses
 * wrong still goes through the indexes.
 */
const takeDue = `WITH free AS MATERIALIZED (
    SELECT run, seq, idx, due FROM hf.outbox WHERE scope = $1 AND lane = $2 AND due <= ${storeTime("$3")}
    ORDER BY due, run, seq, idx LIMIT $4 FOR NO KEY UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE hf.outbox SET due = ${storeTime("$3")} + $5::bigint, attempts = attempts + 1
    WHERE run = ANY (ARRAY(SELECT run FROM free)) AND (run, seq, idx) IN (SELECT run, seq, idx FROM free)
    RETURNING run, seq, idx, body, attempts
  )
  SELECT (SELECT id FROM hf.runs WHERE no = taken.run) AS run_id, seq, idx, body, attempts
  FROM taken JOIN free USING (run, seq, idx) ORDER BY free.due, run, seq, idx`;

function takeDeliveriesJob(access: Access, request: TakeDeliveries): Job<readonly TakenDelivery[]> {
  const { scope, leaseMs, limit } = request;
  const take = async (db: Queries): Promise<readonly TakenDelivery[]> => {
    const values = [scope, laneName(request), access.time(), Math.max(0, limit), leaseMs];
    const rows = await db.all<Omit<OutboxRow, "due" | "error">>(takeDue, values);
    return rows.map((row) => takenFrom(row, scope));
  };
  return { scope, keys: [], bytes: 0, needs: {}, alone: take, write: take };
}

const thisOne = "run = (SELECT no FROM hf.runs WHERE scope = $1 AND id = $2) AND seq = $3 AND idx = $4";
const remove = `DELETE FROM hf.outbox WHERE ${thisOne}`;
const putOff = `UPDATE hf.outbox SET due = ${storeTime("$6")} + $7::bigint, error = $8 WHERE ${thisOne} AND attempts = $5`;

function endDeliveryJob(access: Access, end: DeliveryEnd): Job<boolean> {
  const key = [end.scope, end.run, end.seq, end.index];
  const job = { scope: end.scope, keys: [keyOf(end)], bytes: 0, needs: {} };
  switch (end.how) {
    case "delivered": {
      const leave = async (db: Queries): Promise<boolean> => (await db.run(remove, key)) === 1;
      return { ...job, alone: leave, write: leave };
    }
    case "put-off": {
      const values = [...key, end.attempt, access.time(), end.delayMs, JSON.stringify(end.error)];
      const wait = async (db: Queries): Promise<boolean> => (await db.run(putOff, values)) === 1;
      return { ...job, alone: wait, write: wait };
    }
    // The run is held first, as by an erasure: in any other order the two could wait for each other.
    case "dead":
      return { ...job, needs: { runs: [end] }, write: (tx) => giveUp(tx, access, end) };
    default:
      return end satisfies never;
  }
}

const removeDead = `DELETE FROM hf.outbox WHERE ${thisOne} AND attempts = $5 RETURNING run, body`;
const insertEvidence = `INSERT INTO hf.evidence (run, kind, time, body)
  VALUES ($1, $4, ${storeTime("$2")}, $3)`;

async function giveUp(tx: Tx, access: Access, end: DeliveryEnd & { readonly how: "dead" }): Promise<boolean> {
  const { scope, run, seq, index, attempt, error } = end;
  const row = await tx.get<{ run: number; body: string }>(removeDead, [scope, run, seq, index, attempt]);
  if (!row) return false;
  const delivery = JSON.parse(row.body) as Delivery;
  const body = JSON.stringify(deadBody({ seq, index, delivery, attempts: attempt }, error));
  await tx.run(insertEvidence, [row.run, access.time(), body, "dead-delivery"]);
  return true;
}

const findRun = "SELECT no FROM hf.runs WHERE scope = $1 AND id = $2";
const insertRevived = `INSERT INTO hf.outbox (run, seq, idx, scope, lane, due, attempts, body)
  VALUES ($1, $2, $3, $4, $5, ${storeTime("$6")}, 0, $7)`;

/** O6: the run is held, so that two who ask at once put nothing back twice. */
function reviveJob(access: Access, request: ReviveRequest): Job<number> {
  const { scope } = request;
  const write = async (tx: Tx): Promise<number> => {
    const run = await tx.get<{ no: number }>(findRun, [scope, request.run]);
    const dead = run ? revivable(await readEvidence(tx, request), request) : [];
    for (const each of dead) {
      if (!run) continue;
      const { seq, index, delivery } = each;
      const row = [run.no, seq, index, scope, laneOf(delivery), access.time(), JSON.stringify(delivery)];
      await tx.run(insertRevived, row);
      const body = JSON.stringify(revivedBody(each, request));
      await tx.run(insertEvidence, [run.no, access.time(), body, "delivery-revived"]);
    }
    return dead.length;
  };
  return { scope, keys: [keyOf(request)], bytes: 0, needs: { runs: [request] }, write };
}

const findNext = "SELECT due FROM hf.outbox WHERE scope = $1 AND lane = $2 ORDER BY due LIMIT 1";

async function nextDelivery(db: Queries, lane: Lane): Promise<number | undefined> {
  return (await db.get<{ due: number }>(findNext, [lane.scope, laneName(lane)]))?.due;
}

/** Jumps from scope to scope, whatever each of them holds. */
const findScopes = `WITH RECURSIVE seen (scope) AS (
    (SELECT scope FROM hf.outbox WHERE lane = $1 AND scope > $2 ORDER BY scope LIMIT 1)
    UNION ALL
    SELECT (SELECT scope FROM hf.outbox WHERE lane = $1 AND scope > seen.scope ORDER BY scope LIMIT 1)
    FROM seen WHERE seen.scope IS NOT NULL
  )
  SELECT scope FROM seen WHERE scope IS NOT NULL LIMIT $3`;

async function deliveryScopes(db: Queries, request: DeliveryScopesRequest): Promise<readonly Scope[]> {
  const { after = "", limit } = request;
  return (await db.all<{ scope: Scope }>(findScopes, [laneName(request), after, limit])).map(({ scope }) => scope);
}

const findOf = `SELECT $2::text AS run_id, seq, idx, body, due, attempts, error FROM hf.outbox
  WHERE run = (SELECT no FROM hf.runs WHERE scope = $1 AND id = $2::text) ORDER BY seq, idx LIMIT $3`;

async function readDeliveries(db: Queries, { scope, run }: RunKey): Promise<readonly PendingDelivery[]> {
  const rows = await db.all<OutboxRow>(findOf, [scope, run, mostDeliveries]);
  return rows.map(({ error, ...row }) =>
    pendingFrom({ ...row, error: error === null ? null : (JSON.parse(error) as string) }, scope),
  );
}
