/** Invariant V3: whoever falls behind is told so, with the cursor that repairs it, and never misses an event. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { agent } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { ringSize } from "../../src/runtime/ring.ts";
import type { WatchEvent } from "../../src/runtime/runtime.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { turn } from "../../src/testing/test-process.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";
import { type Durable, take } from "./streams.ts";

/** Every piece says which one it is, so that one that is missing shows. */
const text = Array.from({ length: Math.ceil(ringSize * 2.5) }, (_, n) => `${n}`.padStart(5, "0")).join("");
const teller = agent({ name: "teller", model: scripted([{ text, pieces: 5 }]), instructions: "Tell." });

/** The model writes as many pieces as it is let. */
function gate(): { readonly intercept: Intercept; let(pieces: number): void } {
  let left = 0;
  const waiting: (() => void)[] = [];
  return {
    let(pieces) {
      left += pieces;
      for (const go of waiting.splice(0)) go();
    },
    intercept: async (call, proceed) => {
      if (call.port !== "model") return proceed();
      while (left <= 0) await new Promise<void>((go) => waiting.push(go));
      left -= 1;
      if (left % 64 === 0) await turn();
      return proceed();
    },
  };
}

/** A watcher that reads only when it is told to. */
class Reader {
  readonly seen: WatchEvent[] = [];
  #frames: AsyncIterator<WatchEvent>;
  #next: Promise<void> | undefined;
  isDone = false;

  constructor(events: AsyncIterable<WatchEvent>) {
    this.#frames = events[Symbol.asyncIterator]();
  }

  /** So many frames, or fewer when no more are there now. */
  async read(frames: number): Promise<void> {
    const until = this.seen.length + frames;
    for (let calm = 0; calm < 8 && !this.isDone && this.seen.length < until; ) {
      const before = this.seen.length;
      this.#next ??= this.#step();
      await turn();
      calm = this.seen.length > before ? 0 : calm + 1;
    }
  }

  async #step(): Promise<void> {
    const { value, done } = await this.#frames.next();
    if (done) this.isDone = true;
    else this.seen.push(value);
    this.#next = undefined;
  }
}

/** What a page shows of the message; a piece that does not go on from it was lost without a word. */
function lostPieces(seen: readonly WatchEvent[]): readonly string[] {
  let preview: string | undefined = "";
  const lost: string[] = [];
  for (const event of seen) {
    if (event.type === "resync") preview = undefined;
    if (event.type === "message-partial") preview = event.text;
    if (event.type !== "text-delta") continue;
    if (preview === undefined || !text.startsWith(preview + event.text)) lost.push(event.text);
    preview = (preview ?? "") + event.text;
  }
  return lost;
}

const plan = fc.array(
  fc.record({ writes: fc.oneof(fc.nat(40), fc.nat(ringSize * 2)), reads: fc.oneof(fc.nat(40), fc.constant(3_000)) }),
  { minLength: 1, maxLength: 6 },
);

test("V3 terminal events survive any overflow, and each drop is announced with a cursor that repairs it", {
  timeout: 120_000,
}, async () => {
  let announced = 0;
  const property = fc.asyncProperty(plan, fc.boolean(), async (steps, many) => {
    const writing = gate();
    await using t = await testRuntime({ agents: [teller], intercept: writing.intercept });
    const run = await t.runtime.start(teller, "Go");
    const reader = new Reader(many ? t.runtime.watch({ runs: [run.id] }) : run.watch());
    for (const { writes, reads } of steps) {
      writing.let(writes);
      for (let n = 0; n < writes / 64 + 8; n += 1) await turn();
      await reader.read(reads);
    }
    writing.let(Number.POSITIVE_INFINITY);
    await run.result();
    await reader.read(10_000);
    const durable = reader.seen.filter((event): event is Durable => "seq" in event);
    expect(durable.map(({ seq }) => seq)).toEqual(durable.map((_, index) => index + 1));
    expect(durable.at(-1)?.type).toBe("run-ended");
    expect(lostPieces(reader.seen)).toEqual([]);
    for (const [index, event] of reader.seen.entries()) {
      if (event.type !== "resync") continue;
      announced += 1;
      expect(event.reason).toBe("slow");
      const rest = reader.seen.slice(index).filter((each) => "seq" in each);
      const stream = (options: object) =>
        many ? t.runtime.watch({ runs: [run.id] }, options) : t.runtime.runs.get(run.id).watch(options);
      expect(await take(stream, event.cursor)).toEqual(rest);
    }
  });
  await fc.assert(property, { numRuns: 40, seed: 7 });
  expect(announced).toBeGreaterThan(10); // else nobody ever fell behind
});
