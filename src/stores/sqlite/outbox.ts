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
import type { Access } from "./access.ts";
import type { Connection } from "./database.ts";
import type { Calls, Job } from "./group.ts";
import type { Place } from "./places.ts";
import { readEvidence } from "./reads.ts";

export function outboxOf(access: Access, { write, read }: Calls): OutboxStore {
  return {
    takeDeliveries: (request) => write(() => takeDeliveriesJob(access, request)),
    endDelivery: (end) => write(() => endDeliveryJob(access, end)),
    nextDelivery: (lane) => read(() => nextDelivery(access.db, lane)),
    deliveryScopes: (request) => read(() => deliveryScopes(access.db, request)),
    reviveDeliveries: (request) => write(() => reviveJob(access, request)),
    deliveries: (source) => read(() => readDeliveries(access.db, source)),
  };
}

const insertDelivery = `INSERT INTO outbox (run, seq, idx, scope, lane, due, attempts, body)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7)`;

export interface Caused {
  readonly scope: string;
  readonly deliveries: readonly Delivery[];
  /** First seq of the commit. */
  readonly seq: number;
  readonly at: number;
}

export function addDeliveries(db: Connection, place: Place, { scope, deliveries, seq, at }: Caused): void {
  for (const [index, delivery] of deliveries.entries()) {
    const body = JSON.stringify(delivery);
    db.run(insertDelivery, place.no, seq, index, scope, laneOf(delivery), delivery.due ?? at, body);
  }
}

export const findDueDeliveries = `SELECT run, seq, idx FROM outbox INDEXED BY outbox_due
  WHERE scope = ? AND lane = ? AND due <= ? ORDER BY due, run, seq, idx LIMIT ?`;
const takeOne = `UPDATE outbox SET due = ?4, attempts = attempts + 1 WHERE run = ?1 AND seq = ?2 AND idx = ?3
  RETURNING (SELECT id FROM runs WHERE no = ?1) AS run_id, seq, idx, body, attempts`;

interface FoundDelivery {
  readonly run: number;
  readonly seq: number;
  readonly idx: number;
}

function takeDeliveriesJob({ db, now }: Access, request: TakeDeliveries): Job<readonly TakenDelivery[]> {
  const { scope, leaseMs, limit } = request;
  const find = (): readonly FoundDelivery[] =>
    db.all<FoundDelivery>(findDueDeliveries, scope, laneName(request), now(), Math.max(0, limit));
  const take = ({ run, seq, idx }: FoundDelivery): readonly TakenDelivery[] => {
    const rows = db.all<Omit<OutboxRow, "due" | "error">>(takeOne, run, seq, idx, now() + leaseMs);
    return rows.map((row) => takenFrom(row, scope));
  };
  // Alone it takes no write lock when nothing is due: idle processes do not disturb busy ones.
  const alone = (): readonly TakenDelivery[] | undefined => (find().length === 0 ? [] : undefined);
  return { bytes: 0, alone, write: () => find().flatMap(take) };
}

const thisOne = "run = (SELECT no FROM runs WHERE scope = ?1 AND id = ?2) AND seq = ?3 AND idx = ?4";
const remove = `DELETE FROM outbox WHERE ${thisOne}`;
const putOff = `UPDATE outbox SET due = ?6, error = ?7 WHERE ${thisOne} AND attempts = ?5`;
const findDead = `SELECT run, body FROM outbox WHERE ${thisOne} AND attempts = ?5`;
const insertEvidence = "INSERT INTO evidence (run, kind, time, body) VALUES (?, ?, ?, ?)";

function endDeliveryJob({ db, now }: Access, end: DeliveryEnd): Job<boolean> {
  const key = [end.scope, end.run, end.seq, end.index] as const;
  switch (end.how) {
    case "delivered": {
      const leave = (): boolean => db.run(remove, ...key) === 1;
      return { bytes: 0, alone: leave, write: leave };
    }
    case "put-off": {
      const wait = (): boolean => db.run(putOff, ...key, end.attempt, now() + end.delayMs, end.error) === 1;
      return { bytes: 0, alone: wait, write: wait };
    }
    case "dead":
      return {
        bytes: 0,
        write: () => {
          const row = db.get<{ run: number; body: string }>(findDead, ...key, end.attempt);
          if (!row) return false;
          const delivery = JSON.parse(row.body) as Delivery;
          const body = deadBody({ seq: end.seq, index: end.index, delivery, attempts: end.attempt }, end.error);
          db.run(insertEvidence, row.run, "dead-delivery", now(), JSON.stringify(body));
          return db.run(remove, ...key) === 1;
        },
      };
    default:
      return end satisfies never;
  }
}

const findRun = "SELECT no FROM runs WHERE scope = ? AND id = ?";

/** O6: read and written in one transaction, so that two who ask at once put nothing back twice. */
function reviveJob({ db, now }: Access, request: ReviveRequest): Job<number> {
  const write = (): number => {
    const run = db.get<{ no: number }>(findRun, request.scope, request.run);
    const dead = run ? revivable(readEvidence(db, request), request) : [];
    for (const each of dead) {
      if (!run) continue;
      const { seq, index, delivery } = each;
      const body = JSON.stringify(delivery);
      db.run(insertDelivery, run.no, seq, index, request.scope, laneOf(delivery), now(), body);
      db.run(insertEvidence, run.no, "delivery-revived", now(), JSON.stringify(revivedBody(each, request)));
    }
    return dead.length;
  };
  return { bytes: 0, write };
}

export const findNextDelivery = "SELECT min(due) AS due FROM outbox INDEXED BY outbox_due WHERE scope = ? AND lane = ?";

function nextDelivery(db: Connection, lane: Lane): number | undefined {
  return db.get<{ due: number | null }>(findNextDelivery, lane.scope, laneName(lane))?.due ?? undefined;
}

/** Jumps from scope to scope, whatever each of them holds. */
export const findDeliveryScopes = `WITH RECURSIVE found (scope) AS (
    SELECT (SELECT scope FROM outbox INDEXED BY outbox_due WHERE lane = ?1 AND scope > ?2 ORDER BY scope LIMIT 1)
    UNION ALL
    SELECT (SELECT scope FROM outbox INDEXED BY outbox_due WHERE lane = ?1 AND scope > found.scope ORDER BY scope LIMIT 1)
    FROM found WHERE found.scope IS NOT NULL
  )
  SELECT scope FROM found WHERE scope IS NOT NULL LIMIT ?3`;

function deliveryScopes(db: Connection, request: DeliveryScopesRequest): readonly Scope[] {
  const { after = "", limit } = request;
  return db.all<{ scope: Scope }>(findDeliveryScopes, laneName(request), after, limit).map(({ scope }) => scope);
}

const findOf = `SELECT ?2 AS run_id, seq, idx, body, due, attempts, error FROM outbox
  WHERE run = (SELECT no FROM runs WHERE scope = ?1 AND id = ?2) ORDER BY seq, idx LIMIT ?3`;

function readDeliveries(db: Connection, { scope, run }: RunKey): readonly PendingDelivery[] {
  return db.all<OutboxRow>(findOf, scope, run, mostDeliveries).map((row) => pendingFrom(row, scope));
}
