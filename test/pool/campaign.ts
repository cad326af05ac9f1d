/** Random sequences against a pool, step by step beside the reference. A sequence that differs says where. */

import { type ErrorCode, HoldfastError, isHoldfastError } from "../../src/domain/errors.ts";
import type { ThreadId } from "../../src/domain/ids.ts";
import type { Model, ModelPart } from "../../src/ports/provider.ts";
import type { pool as realPool } from "../../src/providers/pool/pool.ts";
import { rank } from "../../src/providers/pool/rank.ts";
import { createRandom, type Random } from "../../src/testing/sim/random.ts";
import { type CallEvent, type RefCall, ReferencePool, type Settings, type Try } from "./reference.ts";

export type MakePool = typeof realPool;

interface Invocation {
  readonly member: string;
  readonly isDeaf: boolean;
  push(event: CallEvent): void;
}

interface LiveCall {
  readonly ref: RefCall;
  readonly controller: AbortController;
  told: number;
  leaves: boolean;
  outcome: string | undefined;
  retryAfterMs: number | undefined;
  invocation: Invocation | undefined;
}

class Difference extends Error {}

/** The first sequence that differs, in words; undefined when none does. */
export async function runSequences(makePool: MakePool, first: number, count: number): Promise<string | undefined> {
  for (let seed = first; seed < first + count; seed += 1) {
    const log: string[] = [];
    try {
      await new Sequence(makePool, createRandom(seed), log).play();
    } catch (cause) {
      if (!(cause instanceof Difference)) throw cause;
      return `seed ${seed}: ${cause.message}\n${log.join("\n")}`;
    }
  }
  return undefined;
}

class Sequence {
  readonly #random: Random;
  readonly #log: string[];
  readonly #settings: Settings;
  readonly #seats: readonly { readonly key: string; readonly weight: number; readonly model: Model }[];
  readonly #reference: ReferencePool;
  readonly #pool: ReturnType<MakePool>;
  readonly #calls: LiveCall[] = [];

  constructor(makePool: MakePool, random: Random, log: string[]) {
    this.#random = random;
    this.#log = log;
    this.#settings = {
      failures: random.between(1, 3),
      restMs: random.pick([10, 1_000, 30_000]),
      probeMs: random.pick([50, 5_000]),
    };
    const count = random.between(1, 4);
    this.#seats = Array.from({ length: count }, (_, index) => ({
      key: `vendor/m${index}`,
      weight: index > 0 && random.chance(0.3) ? 0 : random.between(1, 4),
      model: this.#model(`vendor/m${index}`),
    }));
    this.#reference = new ReferencePool(
      this.#seats.map(({ key }) => key),
      this.#settings,
    );
    const members = this.#seats.map(({ model, weight }) =>
      weight === 0 ? { model, failoverOnly: true } : { model, weight },
    );
    const clock = { monotonic: () => this.#reference.now };
    this.#pool = makePool(members, { breaker: this.#settings, clock });
  }

  async play(): Promise<void> {
    for (let step = this.#random.between(8, 30); step > 0; step -= 1) {
      this.#do();
      await turn();
      this.#compare();
    }
    await this.#recovers();
  }

  #do(): void {
    const live = this.#calls.filter((call) => call.ref.outcome === undefined);
    const dice = this.#random.next();
    const again = this.#calls.filter((call) => this.#mayTryAgain(call));
    if (again.length > 0 && dice < 0.15) this.#again(this.#random.pick(again));
    else if (live.length === 0 || dice < 0.28) this.#start(this.#anew(`t${this.#random.int(6)}`));
    else if (dice < 0.72) this.#happen(this.#random.pick(live), this.#event());
    else if (dice < 0.8) this.#abort(this.#random.pick(live), this.#random.chance(0.5));
    else if (dice < 0.84) this.#leave(this.#random.pick(live));
    else this.#pass(this.#random.pick([1, 10, 50, 1_000, 5_000, 30_000]));
  }

  #event(): CallEvent {
    const dice = this.#random.next();
    if (dice < 0.06) return { kind: "ping" };
    if (dice < 0.12) return { kind: "part" };
    if (dice < 0.15) return { kind: "blank" };
    if (dice < 0.18) return { kind: "thought" };
    if (dice < 0.33) return { kind: "answer" };
    if (dice < 0.4) return { kind: "finish" };
    if (dice < 0.45) return { kind: "finish-error" };
    if (dice < 0.5) return { kind: "end" };
    if (dice < 0.57) return { kind: "fail", code: "model-refused", isBadDay: false };
    if (dice < 0.7) {
      const afterMs = this.#random.pick([5, 2_000, 3_600_000]);
      return { kind: "fail", code: "model-rate-limited", isBadDay: true, afterMs };
    }
    return { kind: "fail", code: this.#random.pick(["model-overloaded", "model-timeout"]), isBadDay: true };
  }

  #anew(thread: string): Try {
    return { thread, step: this.#random.int(2), attempt: 1, goesOn: false };
  }

  /** The last attempt of its step, and it is over. */
  #mayTryAgain({ ref }: LiveCall): boolean {
    const isSame = ({ at }: RefCall): boolean => at.thread === ref.at.thread && at.step === ref.at.step;
    return ref.outcome !== undefined && this.#calls.findLast((call) => isSame(call.ref))?.ref === ref;
  }

  #again({ ref: { at } }: LiveCall): void {
    this.#start({ ...at, attempt: at.attempt + 1, goesOn: this.#random.chance(0.3) });
  }

  #start(at: Try): LiveCall {
    const order = rank(this.#seats, at.thread).map(({ key }) => key);
    this.#log.push(`start ${this.#calls.length} ${JSON.stringify(at)} (${order.join(", ")})`);
    const call: LiveCall = {
      ref: this.#reference.start(order, at),
      controller: new AbortController(),
      told: 0,
      leaves: false,
      outcome: undefined,
      retryAfterMs: undefined,
      invocation: undefined,
    };
    this.#calls.push(call);
    void this.#read(call, this.#calls.length - 1);
    return call;
  }

  async #read(call: LiveCall, index: number): Promise<void> {
    const { thread, step, attempt, goesOn } = call.ref.at;
    const request = {
      agent: "a",
      thread: thread as ThreadId,
      step,
      attempt,
      instructions: String(index), // so that the member knows which call it is
      messages: [],
      tools: [],
      ...(goesOn ? { continues: "Half" } : {}),
    };
    let hasFinish = false;
    try {
      for await (const part of this.#pool.call(request, call.controller.signal)) {
        if (part.type !== "ping") call.told += 1;
        if (part.type === "finish") {
          hasFinish = true;
          if (part.answeredBy?.model !== call.invocation?.member.slice("vendor/".length))
            call.outcome = "another's answer";
        }
        if (call.leaves) {
          call.outcome ??= "left";
          break;
        }
      }
      call.outcome ??= hasFinish ? "done" : "cut";
    } catch (cause) {
      call.outcome = isHoldfastError(cause) ? cause.code : `threw ${String(cause)}`;
      const isPools = isHoldfastError(cause) && cause.message.startsWith("No member");
      call.retryAfterMs = isPools ? (cause.details["retryAfterMs"] as number | undefined) : undefined;
    }
    if (call.controller.signal.aborted) call.outcome = "aborted";
  }

  #happen(call: LiveCall, event: CallEvent): void {
    this.#log.push(`call ${this.#calls.indexOf(call)}: ${JSON.stringify(event)}`);
    call.invocation?.push(event);
    this.#reference.happens(call.ref, event);
  }

  #abort(call: LiveCall, isTimeout: boolean): void {
    this.#log.push(`abort ${this.#calls.indexOf(call)} ${isTimeout ? "by timeout" : "by cancel"}`);
    this.#reference.abort(call.ref, isTimeout);
    call.controller.abort(isTimeout ? new HoldfastError("model-timeout", "too late") : undefined);
    if (call.invocation?.isDeaf) call.outcome = "aborted";
  }

  #leave(call: LiveCall): void {
    this.#log.push(`the reader of ${this.#calls.indexOf(call)} leaves`);
    call.leaves = true;
    call.ref.leaves = true;
  }

  #pass(ms: number): void {
    this.#log.push(`${ms} ms pass`);
    this.#reference.now += ms;
  }

  #model(key: string): Model {
    const calls = this.#calls;
    const random = this.#random;
    return {
      description: { provider: "vendor", model: key.slice("vendor/".length) },
      async *call({ instructions }, signal) {
        const queue: CallEvent[] = [];
        let wake: () => void = () => undefined;
        const isDeaf = random.chance(0.3);
        const push = (event: CallEvent): void => {
          queue.push(event);
          wake();
        };
        (calls[Number(instructions)] as LiveCall).invocation = { member: key, isDeaf, push };
        if (!isDeaf) signal.addEventListener("abort", () => wake());
        for (;;) {
          const event = queue.shift();
          if (event) {
            const parts = partsOf(event);
            yield* parts;
            if (parts.length === 0 || parts.at(-1)?.type === "finish") return;
            continue;
          }
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          if (!isDeaf) signal.throwIfAborted();
        }
      },
    };
  }

  #compare(): void {
    const seen = {
      health: this.#pool.health().map(({ state, readyInMs }) => ({ state, readyInMs })),
      calls: this.#calls.map(seenOf),
    };
    const wanted = { health: this.#reference.health(), calls: this.#calls.map((call) => this.#wantedOf(call)) };
    if (JSON.stringify(seen) === JSON.stringify(wanted)) return;
    throw new Difference(`is ${JSON.stringify(seen)}\nshould be ${JSON.stringify(wanted)}`);
  }

  #wantedOf({ ref }: LiveCall): unknown {
    const { told, outcome, retryAfterMs } = ref;
    return { asked: this.#reference.asked(ref), told, outcome, retryAfterMs };
  }

  #threadAt(home: string): string {
    for (let index = 0; ; index += 1) if (rank(this.#seats, `home${index}`)[0]?.key === home) return `home${index}`;
  }

  /** Without the reference: whatever was left hanging, every member is asked again and closes. */
  async #recovers(): Promise<void> {
    this.#log.push("everybody is well again");
    this.#reference.now += 600_000 + this.#settings.probeMs;
    for (const { key, weight } of this.#seats) {
      if (weight === 0) continue;
      const call = this.#start(this.#anew(this.#threadAt(key)));
      await turn();
      if (call.invocation?.member !== key) throw new Difference(`${key} works again and is not asked`);
      this.#happen(call, { kind: "answer" });
      await turn();
      this.#compare();
      const { state } = this.#pool.health()[this.#seats.findIndex((seat) => seat.key === key)] ?? {};
      if (state !== "closed") throw new Difference(`${key} has answered and is ${state}`);
    }
  }
}

function seenOf(call: LiveCall): unknown {
  const { told, outcome, retryAfterMs } = call;
  return { asked: outcome === undefined ? call.invocation?.member : undefined, told, outcome, retryAfterMs };
}

function partsOf(event: CallEvent): readonly ModelPart[] {
  const usage = { inputTokens: 1, outputTokens: 1 };
  switch (event.kind) {
    case "ping":
      return [{ type: "ping" }];
    case "part":
      return [{ type: "text-delta", text: "x" }];
    case "blank":
      return [{ type: "text-delta", text: " \n" }];
    case "thought":
      return [{ type: "reasoning-delta", text: "Hm" }];
    case "answer":
      return [...partsOf({ kind: "part" }), ...partsOf({ kind: "finish" })];
    case "finish":
      return [{ type: "finish", reason: "stop", usage }];
    case "finish-error":
      return [{ type: "finish", reason: "error", usage }];
    case "end":
      return [];
    default: {
      const details = event.afterMs === undefined ? {} : { details: { retryAfterMs: event.afterMs } };
      throw new HoldfastError(event.code as ErrorCode, "a bad day", details);
    }
  }
}

/** Enough for a call to be passed on along all members; nothing here waits for anything but promises. */
async function turn(): Promise<void> {
  for (let ticks = 0; ticks < 60; ticks += 1) await undefined;
}
