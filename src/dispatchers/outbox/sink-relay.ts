/**
 * Carries what sinks are to be told: a lane for each (D5).
 *
 * N1 A row's lease outlasts the longest attempt: while one process may still be telling a sink, no other begins.
 * N2 An attempt ends when the sink answers, its time is over, or the worker is closed and has waited long enough; a sink
 *    that answers nobody is heard no more, and told again later.
 * N3 Whatever a sink throws is an answer: never again, or later. It reaches no run and no other lane.
 */
import { isSinkRefusal } from "../../domain/errors.ts";
import { type JsonValue, messageOf } from "../../domain/json.ts";
import type { Redactor } from "../../domain/redaction.ts";
import type { SinkMessage } from "../../domain/sink-message.ts";
import type { DeliveryEnd, TakenDelivery } from "../../ports/outbox-store.ts";
import type { Sink, Sinks } from "../../ports/sink.ts";
import { type LaneOptions, later, type Place, type Relay, serveLane } from "./lane.ts";

export interface SinkRelayOptions extends Omit<LaneOptions, "batch" | "sink"> {
  readonly sinks: Sinks;
  readonly redactor: Redactor;
  /** How long close() lets attempts end. */
  readonly closeGraceMs: number;
}

const batch = 16;
const defaultTimeoutMs = 30_000;
/** With the pauses of a lane: about a day. */
const defaultAttempts = 300;

export function createSinkRelay(options: SinkRelayOptions): Relay {
  const giveUp = new AbortController();
  const lanes = Object.entries(options.sinks).map(([name, sink]) => serveSink({ ...options, name, sink, giveUp }));
  return {
    nudge() {
      for (const lane of lanes) lane.nudge();
    },
    async close() {
      const closed = Promise.all(lanes.map((lane) => lane.close()));
      const inTime = new AbortController();
      const grace = options.clock.sleep(options.closeGraceMs, inTime.signal);
      await Promise.race([closed, grace]);
      inTime.abort();
      giveUp.abort();
      await closed;
    },
  };
}

interface SinkLane extends SinkRelayOptions {
  readonly name: string;
  readonly sink: Sink;
  readonly giveUp: AbortController;
}

function serveSink(lane: SinkLane): Relay {
  const { name, sink, logger } = lane;
  const leaseMs = (sink.timeoutMs ?? defaultTimeoutMs) + lane.leaseMs; // N1
  let isFailing = false;
  return serveLane({ ...lane, leaseMs, batch, sink: name }, async (taken) => {
    const end = await tell(taken, lane);
    const fails = end.how === "put-off";
    if (fails && !isFailing) logger.warn(`Sink ${name} did not take a message; it is told again`, { run: end.run });
    if (!fails && isFailing) logger.note(`Sink ${name} takes messages again`);
    isFailing = fails;
    return end;
  });
}

/** N3. */
async function tell(taken: TakenDelivery, lane: SinkLane): Promise<DeliveryEnd> {
  const { delivery, ...place } = taken;
  if (delivery.to !== "sink") return { ...place, how: "dead", error: "it is nothing for a sink" };
  try {
    await attempt(taken, messageFor(delivery.body, lane), lane);
    return { ...place, how: "delivered" };
  } catch (cause) {
    if (isSinkRefusal(cause)) return { ...place, how: "dead", error: messageOf(cause) };
    return later(place, messageOf(cause), lane.sink.attempts ?? defaultAttempts);
  }
}

/** A copy: what a sink does to it changes nothing. Only an output has content in it. */
function messageFor(body: JsonValue, { sink, redactor }: SinkLane): SinkMessage {
  const message = structuredClone(body) as unknown as SinkMessage;
  if (message.type !== "output" || sink.redact === false) return message;
  return { ...message, output: redactor.json(message.output) };
}

/** N2. */
async function attempt(taken: TakenDelivery, message: SinkMessage, lane: SinkLane): Promise<void> {
  const { sink, clock, giveUp } = lane;
  const timeoutMs = sink.timeoutMs ?? defaultTimeoutMs;
  const over = new AbortController();
  const call = new AbortController();
  const { promise: gone, reject } = Promise.withResolvers<never>();
  const leave = (why: string): void => {
    reject(new Error(why));
    call.abort(why);
  };
  const closing = (): void => leave("the worker was closed while it was being told");
  giveUp.signal.addEventListener("abort", closing, { signal: over.signal });
  void clock.sleep(timeoutMs, over.signal).then(() => {
    if (!over.signal.aborted) leave(`it did not answer within ${timeoutMs} ms`);
  });
  try {
    const context = { key: sinkKey(taken), attempt: taken.attempt, signal: call.signal };
    await Promise.race([(async () => sink.deliver(message, context))(), gone]);
  } finally {
    over.abort();
  }
}

/** D2. In letters that every header and file name can hold; runs of two scopes are never mixed up. */
function sinkKey({ scope, run, seq, index }: Place): string {
  return [encodeURIComponent(scope), encodeURIComponent(run), seq, index].join(":");
}
