import { expect, test } from "vitest";
import { z } from "zod";
import { agent, tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import type { WatchEvent } from "../../src/runtime/runtime.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";

const echo = tool({
  name: "echo",
  description: "Echo",
  input: z.object({ n: z.number() }),
  effect: "pure",
  execute: ({ n }, { report }) => {
    report({ at: n });
    return n;
  },
});

const talker = agent({
  name: "talker",
  model: scripted([
    { text: "Let me see.", calls: [{ tool: "echo", input: { n: 1 } }], pieces: 4, delayMs: 20 },
    { text: "It is one.", pieces: 3 },
  ]),
  instructions: "Talk.",
  tools: [echo],
});

async function all(events: AsyncIterable<WatchEvent>): Promise<WatchEvent[]> {
  const seen: WatchEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

function seqs(events: readonly WatchEvent[]): number[] {
  return events.flatMap((event) => ("seq" in event ? [event.seq] : []));
}

test("a watcher from the start sees every durable event once, in order, and then the end", async () => {
  await using t = await testRuntime({ agents: [talker] });
  const run = await t.runtime.start(talker, "Go");
  const events = await all(run.watch());
  expect(seqs(events)).toEqual(seqs(events).map((_, index) => index + 1));
  expect(events.at(-1)?.type).toBe("run-ended");
});

test("live pieces add up to the message that follows", async () => {
  await using t = await testRuntime({ agents: [talker] });
  const run = await t.runtime.start(talker, "Go");
  const events = await all(run.watch());
  const texts = events.flatMap((event) => (event.type === "text-delta" && event.step === 2 ? [event.text] : []));
  expect(texts.join("")).toBe("It is one.");
  const input = events.flatMap((event) => (event.type === "tool-input-delta" ? [event.text] : []));
  expect(input.join("")).toBe('{"n":1}');
  expect(events.filter((event) => event.type === "tool-progress")).toMatchObject([{ progress: { at: 1 } }]);
});

test("a watcher that comes back with its cursor gets the rest, and after the end all of it again from the start", async () => {
  await using t = await testRuntime({ agents: [talker] });
  const run = await t.runtime.start(talker, "Go");
  const whole = await all(run.watch());
  const durable = whole.filter((event): event is Extract<WatchEvent, { seq: number }> => "seq" in event);
  for (const [index, event] of durable.entries()) {
    const rest = await all(run.watch({ after: event.cursor }));
    expect(rest).toEqual(durable.slice(index + 1));
  }
  expect(await all(run.watch())).toEqual(durable);
});
