/**
 * Carries deliveries to runs, through their outside door, and births of delegates' runs. The store says what is due and to whom it is leased.
 *
 * R1 Rows are leased, although carrying one twice is harmless (the target knows its key): without leases every process
 *    would carry every row, and nobody would know how often a row was tried.
 * R2 A delivery leaves the outbox only when the target has answered. A process that dies in between leaves the row to the
 *    next one, whose post gives the first answer again.
 * R3 What is refused for now is put off with growing pauses. What is refused for good, or too often, is given up and
 *    becomes evidence of its source.
 * R4 One loop, one timer. An empty outbox costs one indexed read per poll and scope, and never a write.
 */
import { messageOf } from "../../domain/json.ts";
import type { Birth } from "../../ports/birth.ts";
import type { Bus } from "../../ports/bus.ts";
import type { Delivery, DeliveryEnd, DeliveryKey, TakenDelivery } from "../../ports/outbox-store.ts";
import type { PostAnswer, PostRefusal } from "../../ports/store.ts";
import { type Carrying, carryBirth, carryDrop, publish, tellUnborn } from "./carry-family.ts";
import { type LaneOptions, later, type Place, type Relay, serveLane } from "./lane.ts";

export interface RelayOptions extends Omit<LaneOptions, "batch" | "sink"> {
  readonly bus: Bus;
}

const batch = 64;
/** With the pauses of a lane: about an hour. */
const mostAttempts = 20;

export function createOutboxRelay(options: RelayOptions): Relay {
  return serveLane({ ...options, batch }, (taken) => reach(taken, options));
}

async function reach(taken: TakenDelivery, options: RelayOptions): Promise<DeliveryEnd> {
  const { delivery, ...place } = taken;
  if (delivery.to === "sink") return { ...place, how: "dead", error: "it is no fact for a run" };
  const by = { ...options, mostAttempts };
  try {
    if (delivery.to === "drop") return await carryDrop(delivery.thread, place, by);
    if (delivery.to === "birth") return await bear(delivery.birth, place, by);
    const answer = await post(taken, delivery, options);
    if (answer.kind !== "refused" || isMoot(delivery, answer.code)) return { ...place, how: "delivered" };
    if (forGood.includes(answer.code)) return { ...place, how: "dead", error: answer.code };
    return later(place, answer.code, mostAttempts);
  } catch (cause) {
    return later(place, messageOf(cause), mostAttempts);
  }
}

/** What the store throws counts as an answer here, so that a birth which is given up is never given up in silence (F2). */
async function bear(birth: Birth, place: Place, by: Carrying): Promise<DeliveryEnd> {
  const end = await carryBirth(birth, place, by).catch((cause: unknown) =>
    later(place, messageOf(cause), mostAttempts),
  );
  if (end.how === "dead") await tellUnborn(birth, end, by);
  return end;
}

type RunDelivery = Extract<Delivery, { to: "run" }>;

async function post(taken: TakenDelivery, delivery: RunDelivery, options: RelayOptions): Promise<PostAnswer> {
  const { store } = options;
  const { run, fact, hash } = delivery;
  const key = deliveryKey(taken);
  const answer = await store.post({ scope: taken.scope, run, fact, key, ...(hash === undefined ? {} : { hash }) });
  if (answer.kind === "posted") {
    const { seq, at } = answer;
    publish({ scope: taken.scope, run, seq, entries: [{ seq, at, epoch: null, ...fact }] }, options);
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
