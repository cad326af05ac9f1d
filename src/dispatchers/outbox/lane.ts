/**
 * One lane of the outbox: deliveries to runs, or to one sink. The store says what is due and to whom it is leased; what
 * carrying means, the lane's owner says.
 */
import type { Scope } from "../../domain/ids.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { DeliveryEnd, TakenDelivery } from "../../ports/outbox-store.ts";
import type { Store } from "../../ports/store.ts";

export interface LaneOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly scopes: readonly Scope[] | "all";
  /** How long a row is hidden from others while it is carried. */
  readonly leaseMs: number;
  readonly pollMs: number;
  /** How many are carried at once. */
  readonly batch: number;
  /** Deliveries to runs unless said. */
  readonly sink?: string;
}

export interface Relay {
  /** Something was written in this process: it is looked for now. */
  nudge(): void;
  /** Returns when nothing is being carried any more. */
  close(): Promise<void>;
}

/** Never throws: whatever happens is an end of some kind. */
export type Carry = (taken: TakenDelivery) => Promise<DeliveryEnd>;

export function serveLane(options: LaneOptions, carry: Carry): Relay {
  const stop = new AbortController();
  const rest = createRest(options.clock);
  const carrying = serve({ ...options, carry, rest }, stop.signal);
  return {
    nudge: () => rest.end(),
    close: () => {
      stop.abort();
      rest.end();
      return carrying;
    },
  };
}

interface Lane extends LaneOptions {
  readonly carry: Carry;
  readonly rest: Rest;
}

/** A pause between two looks, which ends early when somebody says so; also when that was said just before it. */
interface Rest {
  pause(ms: number): Promise<void>;
  end(): void;
}

function createRest(clock: Clock): Rest {
  let isNudged = false;
  let sleeping: AbortController | undefined;
  return {
    async pause(ms) {
      if (!isNudged) {
        sleeping = new AbortController();
        await clock.sleep(ms, sleeping.signal);
        sleeping = undefined;
      }
      isNudged = false;
    },
    end() {
      isNudged = true;
      sleeping?.abort();
    },
  };
}

/** One loop, one timer. */
async function serve(lane: Lane, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    let pauseMs = lane.pollMs;
    for await (const scope of scopesOf(lane)) {
      if (stop.aborted) return;
      pauseMs = Math.min(pauseMs, await carrySome(scope, lane));
    }
    if (pauseMs > 0) await lane.rest.pause(pauseMs);
  }
}

const scopePage = 100;

/** Those that it serves; of all, those in which something is left. */
async function* scopesOf({ scopes, store, sink, logger }: Lane): AsyncIterable<Scope> {
  if (scopes !== "all") return yield* scopes;
  const lane = sink === undefined ? {} : { sink };
  try {
    for (let after = {}, full = true; full; ) {
      const page = await store.deliveryScopes({ ...lane, ...after, limit: scopePage });
      yield* page;
      after = { after: page.at(-1) };
      full = page.length === scopePage;
    }
  } catch (cause) {
    logger.warn("Looking for scopes with deliveries failed; it is tried again", { ...lane, cause: String(cause) });
  }
}

/** Answers how long to wait before the next look. */
async function carrySome(scope: Scope, lane: Lane): Promise<number> {
  const { store, clock, leaseMs, pollMs, logger, batch } = lane;
  const place = { scope, ...(lane.sink === undefined ? {} : { sink: lane.sink }) };
  try {
    const due = await store.nextDelivery(place);
    const waitMs = due === undefined ? pollMs : due - clock.now();
    if (waitMs > 0) return Math.min(pollMs, waitMs);
    const taken = await store.takeDeliveries({ ...place, leaseMs, limit: batch });
    await Promise.all(taken.map((each) => carryOne(each, lane)));
    return taken.length === 0 ? pollMs : 0; // nothing, where this clock saw something due: others took it, or it runs ahead
  } catch (cause) {
    logger.warn("Deliveries could not be read; it is tried again", { ...place, cause: String(cause) });
    return pollMs;
  }
}

async function carryOne(taken: TakenDelivery, { carry, store, logger, sink }: Lane): Promise<void> {
  const end = await carry(taken);
  if (end.how === "dead") {
    const { run, seq, index, attempt: attempts } = end;
    // What a sink throws may repeat what it was told: that stays with the run.
    const about = sink === undefined ? { error: end.error } : { sink };
    logger.warn(`A delivery of run ${run} is given up; its evidence says why`, { seq, index, attempts, ...about });
  }
  try {
    await store.endDelivery(end);
  } catch (cause) {
    logger.note(`A delivery of run ${end.run} is carried again when its lease has run out`, { cause: String(cause) });
  }
}

export type Place = Omit<TakenDelivery, "delivery">;

const firstPauseMs = 1_000;
const longestPauseMs = 300_000;

/** Put off with growing pauses, and given up after so many attempts. */
export function later(place: Place, error: string, mostAttempts: number): DeliveryEnd {
  if (place.attempt >= mostAttempts) return { ...place, how: "dead", error };
  const delayMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (place.attempt - 1));
  return { ...place, how: "put-off", delayMs, error };
}
