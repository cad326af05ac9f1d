/**
 * Carries deliveries to runs, through their outside door. The store says what is due and to whom it is leased.
 *
 * R1 Rows are leased, although carrying one twice is harmless (the target knows its key): without leases every process
 *    would carry every row, and nobody would know how often a row was tried.
 * R2 A delivery leaves the outbox only when the target has answered. A process that dies in between leaves the row to the
 *    next one, whose post gives the first answer again.
 * R3 What is refused for now is put off with growing pauses. What is refused for good, or too often, is given up and
 *    becomes evidence of its source.
 * R4 One loop, one timer. An empty outbox costs one indexed read per poll and scope, and never a write.
 */
import type { Scope } from "../domain/ids.ts";
import { messageOf } from "../domain/json.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { Delivery, DeliveryEnd, DeliveryKey, TakenDelivery } from "../ports/outbox-store.ts";
import type { PostAnswer, PostRefusal, Store } from "../ports/store.ts";

export interface RelayOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly scopes: readonly Scope[];
  /** How long a row is hidden from others while it is carried. */
  readonly leaseMs: number;
  readonly pollMs: number;
}

export interface Relay {
  /** Returns when nothing is being carried any more. */
  close(): Promise<void>;
}

const batch = 64;
const firstPauseMs = 1_000;
const longestPauseMs = 300_000;
/** With the pauses above: about an hour. */
const mostAttempts = 20;

export function createOutboxRelay(options: RelayOptions): Relay {
  const stop = new AbortController();
  const carrying = relayLoop(options, stop.signal);
  return {
    close: () => {
      stop.abort();
      return carrying;
    },
  };
}

async function relayLoop(options: RelayOptions, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    let pauseMs = options.pollMs;
    for (const scope of options.scopes) {
      if (stop.aborted) return;
      pauseMs = Math.min(pauseMs, await carrySome(scope, options));
    }
    if (pauseMs > 0) await options.clock.sleep(pauseMs, stop);
  }
}

/** Answers how long to wait before the next look. */
async function carrySome(scope: Scope, options: RelayOptions): Promise<number> {
  const { store, clock, leaseMs, pollMs, logger } = options;
  try {
    const due = await store.nextDelivery({ scope });
    const waitMs = due === undefined ? pollMs : due - clock.now();
    if (waitMs > 0) return Math.min(pollMs, waitMs);
    const taken = await store.takeDeliveries({ scope, leaseMs, limit: batch });
    await Promise.all(taken.map((each) => carry(each, options)));
    return taken.length === 0 ? pollMs : 0; // nothing, where this clock saw something due: others took it, or it runs ahead
  } catch (cause) {
    logger.warn("Deliveries could not be read; it is tried again", { cause: String(cause) });
    return pollMs;
  }
}

async function carry(taken: TakenDelivery, options: RelayOptions): Promise<void> {
  const { store, logger } = options;
  const end = await reach(taken, options);
  if (end.how === "dead") {
    const { run, seq, index } = end;
    logger.warn(`A delivery of run ${run} is given up`, { seq, index, attempts: end.attempt, error: end.error });
  }
  try {
    await store.endDelivery(end);
  } catch (cause) {
    logger.note(`A delivery of run ${end.run} is carried again when its lease has run out`, { cause: String(cause) });
  }
}

async function reach(taken: TakenDelivery, options: RelayOptions): Promise<DeliveryEnd> {
  const { delivery, ...place } = taken;
  if (delivery.to !== "run") return { ...place, how: "dead", error: "it is no fact for a run" };
  try {
    const answer = await post(taken, delivery, options);
    if (answer.kind !== "refused" || isMoot(delivery, answer.code)) return { ...place, how: "delivered" };
    return refusedEnd(place, answer.code);
  } catch (cause) {
    return later(place, messageOf(cause));
  }
}

type RunDelivery = Extract<Delivery, { to: "run" }>;

async function post(taken: TakenDelivery, delivery: RunDelivery, options: RelayOptions): Promise<PostAnswer> {
  const { store, bus, logger } = options;
  const { run, fact, hash } = delivery;
  const key = deliveryKey(taken);
  const answer = await store.post({ scope: taken.scope, run, fact, key, ...(hash === undefined ? {} : { hash }) });
  if (answer.kind === "posted") {
    const { seq, at } = answer;
    const hint = { scope: taken.scope, run, seq, entries: [{ seq, at, epoch: null, ...fact }] };
    bus.publish(hint).catch((cause: unknown) => {
      logger.warn(`The bus did not take a hint for run ${run}`, { cause: String(cause) });
    });
  }
  return answer;
}

/** (source run, source seq, index): the target takes it once. */
function deliveryKey({ run, seq, index }: DeliveryKey): string {
  return `outbox:${run}:${seq}:${index}`;
}

/** Who asks an ended run to end has what it wants. */
function isMoot({ fact }: RunDelivery, code: PostRefusal): boolean {
  return code === "run-ended" && (fact.type === "cancel-requested" || fact.type === "pause-requested");
}

/** No later try can be answered otherwise. A run or ticket that is not there may be on its way. */
const forGood: readonly PostRefusal[] = ["run-ended", "ticket-expired", "ticket-hash-mismatch", "input-taken"];

type Place = Omit<TakenDelivery, "delivery">;

function refusedEnd(place: Place, code: PostRefusal): DeliveryEnd {
  return forGood.includes(code) ? { ...place, how: "dead", error: code } : later(place, code);
}

/** R3. */
function later(place: Place, error: string): DeliveryEnd {
  if (place.attempt >= mostAttempts) return { ...place, how: "dead", error };
  return {
    ...place,
    how: "put-off",
    delayMs: Math.min(longestPauseMs, firstPauseMs * 2 ** (place.attempt - 1)),
    error,
  };
}
