/** The outbox of the memory store (O1–O5). */
import type { Scope } from "../../domain/ids.ts";
import type {
  Delivery,
  DeliveryEnd,
  DeliveryKey,
  DeliveryScopesRequest,
  Lane,
  PendingDelivery,
  ReviveRequest,
  TakeDeliveries,
  TakenDelivery,
} from "../../ports/outbox-store.ts";
import type { RunKey } from "../../ports/store.ts";
import { deadBody, laneName, laneOf, mostDeliveries, revivable, revivedBody } from "../shared/outbox-rows.ts";
import type { MemoryData, MemoryDelivery, MemoryRun, ScopeData } from "./data.ts";

export interface Caused {
  readonly deliveries: readonly Delivery[];
  /** First seq of the commit. */
  readonly seq: number;
  readonly now: number;
}

export function addDeliveries(scope: ScopeData, run: MemoryRun, { deliveries: all, seq, now }: Caused): void {
  for (const [index, delivery] of all.entries()) {
    scope.outbox.add({ run, seq, index, delivery, due: delivery.due ?? now, attempts: 0, error: undefined });
  }
}

export function takeDeliveries(scope: ScopeData, request: TakeDeliveries, now: number): readonly TakenDelivery[] {
  const due = inLane(scope, request).filter((row) => row.due <= now);
  return due.slice(0, Math.max(0, request.limit)).map((row) => {
    row.due = now + request.leaseMs;
    row.attempts += 1;
    return { ...keyOf(row, request), delivery: row.delivery, attempt: row.attempts };
  });
}

/** By due time, then in the order of runs, commits and their lists. */
function inLane(scope: ScopeData, lane: Lane): readonly MemoryDelivery[] {
  const rows = [...scope.outbox].filter((row) => laneOf(row.delivery) === laneName(lane));
  return rows.sort((a, b) => a.due - b.due || a.run.no - b.run.no || a.seq - b.seq || a.index - b.index);
}

function keyOf({ run, seq, index }: MemoryDelivery, { scope }: Lane): DeliveryKey {
  return { scope, run: run.id, seq, index };
}

export function endDelivery(scope: ScopeData, end: DeliveryEnd, now: number): boolean {
  const row = [...scope.outbox].find(
    ({ run, seq, index }) => run.id === end.run && seq === end.seq && index === end.index,
  );
  if (!row || (end.how !== "delivered" && row.attempts !== end.attempt)) return false;
  switch (end.how) {
    case "delivered":
      return scope.outbox.delete(row);
    case "put-off":
      row.due = now + end.delayMs;
      row.error = end.error;
      return true;
    case "dead":
      row.run.evidence.push({ kind: "dead-delivery", at: now, body: deadBody(row, end.error) });
      return scope.outbox.delete(row);
    default:
      return end satisfies never;
  }
}

/** O6. */
export function reviveDeliveries(scope: ScopeData, request: ReviveRequest, now: number): number {
  const run = scope.runs.get(request.run);
  const dead = run ? revivable(run.evidence, request) : [];
  for (const each of dead) {
    if (!run) continue;
    scope.outbox.add({ run, ...each, due: now, attempts: 0, error: undefined });
    run.evidence.push({ kind: "delivery-revived", at: now, body: revivedBody(each, request) });
  }
  return dead.length;
}

export function nextDelivery(scope: ScopeData, lane: Lane): number | undefined {
  return inLane(scope, lane)[0]?.due;
}

export function deliveryScopes({ scopes }: MemoryData, request: DeliveryScopesRequest): readonly Scope[] {
  const { after = "", limit } = request;
  const isLeft = (data: ScopeData): boolean =>
    [...data.outbox].some((row) => laneOf(row.delivery) === laneName(request));
  const names = [...scopes].flatMap(([name, data]) => (name > after && isLeft(data) ? [name] : []));
  return names.sort().slice(0, limit);
}

export function deliveries(scope: ScopeData, source: RunKey): readonly PendingDelivery[] {
  const rows = [...scope.outbox].filter(({ run }) => run.id === source.run).slice(0, mostDeliveries);
  return rows.map((row) => ({
    ...keyOf(row, source),
    delivery: row.delivery,
    due: row.due,
    attempts: row.attempts,
    ...(row.error === undefined ? {} : { error: row.error }),
  }));
}
