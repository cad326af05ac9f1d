/**
 * The part of the store that is about facts for others: they are written with the commit that causes them, and carried to
 * their target afterwards.
 *
 * O1 A delivery is written in the transaction of its commit, or not at all. Its key is (source run, first seq of the commit,
 *    index); a target that has seen the key takes it no second time.
 * O2 Taking is bounded and by due time, the oldest first. What was taken is hidden until its lease runs out, by store time,
 *    and each taking is counted, so that a delivery which kills its process is counted too.
 * O3 A delivered one leaves the outbox, whoever says so. Putting off and giving up need the newest attempt: who has lost
 *    the lease changes nothing.
 * O4 What is given up leaves the outbox and becomes evidence of its source run, in one transaction.
 * O5 Erasing a run takes its deliveries along; pruning leaves a run alone while it has any. A run whose parent still waits to
 *    be told of its end is busy until it was told: the parent would wait for ever.
 * O6 What a sink was to be told and was given up may be put back, once for each time it was given up: under its own key, due
 *    at once, its attempts counted anew. Evidence says by whom, in the same transaction.
 */
import type { OutsideFact } from "../domain/entry.ts";
import type { RunId, Scope, ThreadId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import type { Birth } from "./birth.ts";

export type Delivery = (
  | {
      readonly to: "run";
      /** In the scope of the source. */
      readonly run: RunId;
      readonly fact: OutsideFact;
      /** Ticket decisions only: the hash that was shown. */
      readonly hash?: string;
    }
  /** A delegate's run, in the scope of the source; born once, by its start key. */
  | { readonly to: "birth"; readonly birth: Birth }
  /** A thread that is dropped with every run and thread below it, once they have ended. */
  | { readonly to: "drop"; readonly thread: ThreadId }
  | { readonly to: "sink"; readonly sink: string; readonly body: JsonValue }
) & {
  /** Store time before which it is not carried; at once unless said. */
  readonly due?: number;
};

/** Source run, first seq of the commit, place in its list. */
export interface DeliveryKey {
  readonly scope: Scope;
  readonly run: RunId;
  readonly seq: number;
  readonly index: number;
}

export interface PendingDelivery extends DeliveryKey {
  readonly delivery: Delivery;
  readonly due: number;
  readonly attempts: number;
  readonly error?: string;
}

/** Deliveries to runs, births and threads that go, or to one sink: a sink that does not answer holds up nobody else. */
export interface Lane {
  readonly scope: Scope;
  readonly sink?: string;
}

export interface DeliveryScopesRequest extends Pick<Lane, "sink"> {
  /** Scopes after this one, by name. */
  readonly after?: Scope;
  readonly limit: number;
}

export interface TakeDeliveries extends Lane {
  readonly leaseMs: number;
  readonly limit: number;
}

export interface TakenDelivery extends DeliveryKey {
  readonly delivery: Delivery;
  /** This one included. */
  readonly attempt: number;
}

export type DeliveryEnd = DeliveryKey & { readonly attempt: number } & (
    | { readonly how: "delivered" }
    | { readonly how: "put-off"; readonly delayMs: number; readonly error: string }
    | { readonly how: "dead"; readonly error: string }
  );

export interface ReviveRequest {
  readonly scope: Scope;
  readonly run: RunId;
  /** Of this sink only. */
  readonly sink?: string;
  readonly by: string;
}

export interface OutboxStore {
  takeDeliveries(request: TakeDeliveries): Promise<readonly TakenDelivery[]>;
  /** False when nothing was changed (O3). */
  endDelivery(end: DeliveryEnd): Promise<boolean>;
  /** Store time at which something in the lane is next due, if anything is. */
  nextDelivery(lane: Lane): Promise<number | undefined>;
  /** Scopes in which something of the lane is left, by name: for workers that serve them all. Costs what it answers. */
  deliveryScopes(request: DeliveryScopesRequest): Promise<readonly Scope[]>;
  /** Answers how many were put back (O6). */
  reviveDeliveries(request: ReviveRequest): Promise<number>;
  /** What a run has caused and nobody has got yet, in the order it was written. */
  deliveries(source: { readonly scope: Scope; readonly run: RunId }): Promise<readonly PendingDelivery[]>;
}
