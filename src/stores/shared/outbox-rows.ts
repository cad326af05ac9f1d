/** How a delivery is kept in a row, and what is left of one that is given up. */
import type { RunId, Scope, TicketId } from "../../domain/ids.ts";
import type { JsonValue } from "../../domain/json.ts";
import type {
  Delivery,
  DeliveryKey,
  Lane,
  PendingDelivery,
  ReviveRequest,
  TakenDelivery,
} from "../../ports/outbox-store.ts";
import type { EvidenceRow } from "../../ports/store.ts";

/** Most that is read of one run at once. */
export const mostDeliveries = 10_000;

export function laneName({ sink }: Pick<Lane, "sink">): string {
  return sink === undefined ? "run" : `sink:${sink}`;
}

export function laneOf(delivery: Delivery): string {
  return laneName(delivery.to === "sink" ? delivery : {});
}

/** O5: what a parent waits on, of a delivery that tells it the end of its child. */
export function toldTicket(delivery: Delivery): TicketId | undefined {
  if (delivery.to !== "run" || delivery.fact.type !== "ticket-decided") return undefined;
  return delivery.fact.decision.kind === "child-ended" ? delivery.fact.ticket : undefined;
}

export interface OutboxRow {
  readonly run_id: RunId;
  readonly seq: number;
  readonly idx: number;
  readonly body: string;
  readonly due: number;
  readonly attempts: number;
  readonly error: string | null;
}

function keyIn(row: Pick<OutboxRow, "run_id" | "seq" | "idx">, scope: Scope): DeliveryKey {
  return { scope, run: row.run_id, seq: row.seq, index: row.idx };
}

export function takenFrom(row: Omit<OutboxRow, "due" | "error">, scope: Scope): TakenDelivery {
  return { ...keyIn(row, scope), delivery: JSON.parse(row.body) as Delivery, attempt: row.attempts };
}

export function pendingFrom(row: OutboxRow, scope: Scope): PendingDelivery {
  const { due, attempts, error } = row;
  const delivery = JSON.parse(row.body) as Delivery;
  return { ...keyIn(row, scope), delivery, due, attempts, ...(error === null ? {} : { error }) };
}

/** The body of the evidence "dead-delivery". */
export function deadBody(
  dead: Pick<PendingDelivery, "seq" | "index" | "delivery" | "attempts">,
  error: string,
): JsonValue {
  const { seq, index, delivery, attempts } = dead;
  return { seq, index, delivery: delivery as unknown as JsonValue, attempts, error };
}

export type DeadDelivery = Pick<PendingDelivery, "seq" | "index"> & {
  readonly delivery: Extract<Delivery, { to: "sink" }>;
};

/** O6: what was given up and not put back since, from all evidence of its run, the oldest first. */
export function revivable(evidence: readonly EvidenceRow[], { sink }: ReviveRequest): readonly DeadDelivery[] {
  const dead = new Map<string, DeadDelivery>();
  for (const { kind, body } of evidence) {
    if (kind !== "dead-delivery" && kind !== "delivery-revived") continue;
    const { seq, index, delivery } = body as unknown as Pick<PendingDelivery, "seq" | "index" | "delivery">;
    const place = `${seq}.${index}`;
    if (kind === "delivery-revived") dead.delete(place);
    else if (delivery.to === "sink") dead.set(place, { seq, index, delivery });
  }
  return [...dead.values()].filter(({ delivery }) => sink === undefined || delivery.sink === sink);
}

/** The body of the evidence "delivery-revived". */
export function revivedBody({ seq, index, delivery }: DeadDelivery, { by }: ReviveRequest): JsonValue {
  return { seq, index, sink: delivery.sink, by };
}
