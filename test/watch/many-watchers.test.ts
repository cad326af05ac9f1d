import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { ringSize } from "../../src/runtime/ring.ts";
import type { WatchEvent } from "../../src/runtime/runtime.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { turn } from "../../src/testing/test-process.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";

const watchers = 200;
const stalled = 20;
const text = "x".repeat(3 * ringSize);

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

interface Reader {
  readonly frames: AsyncIterator<WatchEvent>;
  readonly durable: number[];
  readonly resyncs: string[];
  pieces: number;
  ended: boolean;
}

function read(events: AsyncIterable<WatchEvent>): Reader {
  return { frames: events[Symbol.asyncIterator](), durable: [], resyncs: [], pieces: 0, ended: false };
}

/** Reads on until `stops` says so, or to the end. */
async function readOn(reader: Reader, stops: (frame: WatchEvent) => boolean = () => false): Promise<void> {
  for (;;) {
    const next = await reader.frames.next();
    if (next.done) return;
    const frame = next.value;
    if ("seq" in frame) reader.durable.push(frame.seq);
    if (frame.type === "text-delta") reader.pieces += 1;
    if (frame.type === "resync") reader.resyncs.push(frame.reason);
    if (frame.type === "run-ended") reader.ended = true;
    if (stops(frame)) return;
  }
}

/** Holds the model until told, then lets others have a turn every few pieces. */
function pacing(begin: Promise<void>): Intercept {
  let pieces = 0;
  return async (call, proceed) => {
    if (call.port !== "model") return proceed();
    await begin;
    pieces += 1;
    if (pieces % 32 === 0) await turn();
    return proceed();
  };
}

/** Enough for everybody to read what there is. */
async function turns(): Promise<void> {
  for (let n = 0; n < 50; n += 1) await turn();
}

test(`${watchers} watchers of which ${stalled} never read: memory is the ring's, the healthy see all, the stalled get resync and finish`, async () => {
  const begin = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const hold = tool({
    name: "hold",
    description: "Hold",
    input: z.object({}),
    effect: "pure",
    execute: async () => {
      await release.promise;
      return "on";
    },
  });
  const model = scripted([{ text, pieces: 1, calls: [{ tool: "hold", input: {} }] }, { text: "Done." }]);
  const talker = agent({ name: "talker", model, instructions: "Talk.", tools: [hold] });
  await using t = await testRuntime({ agents: [talker], intercept: pacing(begin.promise) });
  const run = await t.runtime.start(talker, "Go");

  const readers = Array.from({ length: watchers }, () => read(run.watch()));
  const [early, late] = [readers.slice(0, stalled / 2), readers.slice(stalled / 2, stalled)];
  const healthy = readers.slice(stalled);
  const reading = healthy.map((reader) => readOn(reader));
  await Promise.all(early.map((reader) => readOn(reader, () => true)));
  const stopping = late.map((reader) => readOn(reader, (frame) => frame.type === "text-delta"));
  const spy = read(run.watch());
  const pieces: WeakRef<WatchEvent>[] = [];
  const spying = readOn(spy, (frame) => {
    if (frame.type === "text-delta") pieces.push(new WeakRef(frame));
    return false;
  });
  await turns();
  begin.resolve();
  await Promise.all(stopping);
  while (pieces.length < text.length) await turn();
  await turns();
  collect();
  const kept = pieces.filter((piece) => piece.deref() !== undefined).length;
  const goingOn = early.map((reader) => readOn(reader));
  await turns();
  const midway = early.map(({ resyncs, ended }) => ({ resyncs: [...resyncs], ended }));
  release.resolve(); // from here on everything comes to its end, whatever is expected of it
  await Promise.all([...reading, ...goingOn, spying]);
  await Promise.all(late.map((reader) => readOn(reader)));

  expect(kept).toBeLessThanOrEqual(ringSize + watchers);
  expect(kept).toBeGreaterThan(0); // the ring itself: the count means something
  expect(midway).toEqual(early.map(() => ({ resyncs: ["slow"], ended: false })));
  const { durable } = spy;
  expect(durable).toEqual(durable.map((_, index) => index + 1));
  for (const reader of healthy) {
    expect(reader).toMatchObject({ durable, pieces: text.length + 1, resyncs: [], ended: true });
  }
  for (const reader of early) expect(reader).toMatchObject({ durable, resyncs: ["slow"], ended: true });
  for (const reader of late) expect(reader).toMatchObject({ durable, pieces: 1, resyncs: ["slow"], ended: true });
});
