import { expect, test } from "vitest";
import { z } from "zod";
import type { Told } from "../../src/domain/delta.ts";
import { agent, tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { createRing } from "../../src/runtime/ring.ts";
import type { WatchEvent } from "../../src/runtime/runtime.ts";
import { type RingItem, type Source, watch } from "../../src/runtime/watch.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { turn } from "../../src/testing/test-process.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";

const ask = tool({ name: "ask", description: "Ask", input: z.object({}) });

const asker = agent({
  name: "asker",
  model: scripted([{ text: "A question.", calls: [{ tool: "ask", input: {} }] }, { text: "Thanks." }]),
  instructions: "Ask.",
  tools: [ask],
});

const talker = agent({
  name: "talker",
  model: scripted([{ text: "Let me see, it is one.", pieces: 3 }]),
  instructions: "Talk.",
});

async function all(events: AsyncIterable<WatchEvent>): Promise<readonly WatchEvent[]> {
  const seen: WatchEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

/** Lets the model go on piece by piece, when told. */
function steps(): { readonly intercept: Intercept; readonly next: () => Promise<void> } {
  const waiting: (() => void)[] = [];
  return {
    async intercept(call, proceed) {
      if (call.port === "model") await new Promise<void>((resolve) => waiting.push(resolve));
      return proceed();
    },
    async next() {
      while (waiting.length === 0) await turn();
      waiting.shift()?.();
      await turn();
    },
  };
}

test("until idle ends when the run waits, and again at its end; until the end goes on over the wait", async () => {
  await using t = await testRuntime({ agents: [asker] });
  const run = await t.runtime.start(asker, "Go");
  const whole = all(run.watch());
  const first = await all(run.watch({ until: "idle" }));
  expect(first.at(-1)?.type).toBe("run-waiting");
  expect((await all(run.watch({ until: "idle" }))).at(-1)?.type).toBe("run-waiting");
  const waiting = first.at(-1);
  const after = waiting && "cursor" in waiting ? waiting.cursor : "";
  expect(await all(run.watch({ after, until: "idle" }))).toEqual([]);
  const [ticket] = await t.runtime.tickets.list({ run: run.id, kind: "input" });
  await ticket?.answer("yes");
  const second = await all(run.watch({ after, until: "idle" }));
  expect(second.at(-1)?.type).toBe("run-ended");
  const types = (await whole).flatMap((event) => ("seq" in event ? [event.type] : []));
  expect(types.filter((type) => type === "run-waiting" || type === "run-ended")).toEqual(["run-waiting", "run-ended"]);
});

test("a watcher that joins in the middle of a message gets what there is, then goes on from there", async () => {
  const pace = steps();
  await using t = await testRuntime({ agents: [talker], intercept: pace.intercept });
  const run = await t.runtime.start(talker, "Go");
  for (let piece = 0; piece < 3; piece += 1) await pace.next();
  const seen: WatchEvent[] = [];
  const reading = (async () => {
    for await (const event of run.watch()) seen.push(event);
  })();
  while (!seen.some((event) => event.type === "message-partial")) await turn();
  for (let piece = 0; piece < 7; piece += 1) await pace.next();
  await reading;
  const live = seen.filter((event) => event.type === "message-partial" || event.type === "text-delta");
  expect(live[0]).toMatchObject({ type: "message-partial", attempt: 1, text: "Let me se" });
  expect(live.filter((event) => event.type === "message-partial")).toHaveLength(1);
  expect(live.map((event) => ("text" in event ? event.text : "")).join("")).toBe("Let me see, it is one.");
});

test("a signal ends a watch that waits, one that has more to show, and one that has not begun", async () => {
  await using t = await testRuntime({ agents: [asker] });
  const run = await t.runtime.start(asker, "Go");
  await run.idle();
  const [one, many] = [new AbortController(), new AbortController()];
  const waiting = [all(run.watch({ signal: one.signal })), all(t.runtime.watch({}, { signal: many.signal }))];
  await t.settle();
  one.abort();
  many.abort();
  for (const seen of await Promise.all(waiting)) expect(seen.at(-1)?.type).toBe("run-waiting");
  expect(await all(run.watch({ signal: AbortSignal.abort() }))).toEqual([]);
});

test("a signal stops what is in the ring already", async () => {
  const ring = createRing<RingItem>();
  const source: Source = {
    tag: "0123456789abcdef",
    ring,
    read: async () => [],
    order: () => "next",
    check: async () => "fits",
    wants: () => true,
    wantsLive: () => true,
    partials: () => [],
    ask: () => undefined,
    rest: async () => "going-on",
    now: async () => ({ position: 0, seq: 0 }),
    pause: async () => undefined,
    leave: () => undefined,
  };
  const [stopped, closed] = [new AbortController(), new AbortController()];
  const progress = { type: "tool-progress", run: "r", thread: "t", step: 1, attempt: 1, call: "c", progress: 1 };
  const frames = watch(source, { signal: stopped.signal }, closed.signal);
  const first = frames.next();
  await turn();
  for (let n = 0; n < 3; n += 1) ring.push({ kind: "told", told: progress as unknown as Told });
  expect((await first).value).toBe(progress);
  expect((await frames.next()).value).toBe(progress);
  stopped.abort();
  expect((await frames.next()).done).toBe(true);
});

test("closing the runtime ends every watch", async () => {
  const t = await testRuntime({ agents: [asker] });
  const run = await t.runtime.start(asker, "Go");
  const watches = [all(run.watch()), all(t.runtime.watch()), all(t.runtime.watch({ agents: ["asker"] }))];
  await run.idle();
  await t.settle();
  await t.close();
  for (const seen of await Promise.all(watches)) expect(seen.some((event) => event.type === "run-waiting")).toBe(true);
  await expect(all(t.runtime.watch())).rejects.toMatchObject({ code: "runtime-closed" });
});

test("an unknown run cannot be watched, and says so", async () => {
  await using t = await testRuntime({ agents: [talker] });
  const watching = all(t.runtime.runs.get("nobody").watch());
  await expect(watching).rejects.toMatchObject({ code: "run-not-found" });
});

test("the terminal event is there once the run has ended, the same as watched", async () => {
  await using t = await testRuntime({ agents: [asker] });
  const run = await t.runtime.start(asker, "Go");
  await run.idle();
  expect(await run.terminalEvent()).toBeUndefined();
  const [ticket] = await t.runtime.tickets.list({ run: run.id, kind: "input" });
  await ticket?.answer("yes");
  const last = (await all(run.watch())).at(-1);
  expect(last).toEqual({ ...(await run.terminalEvent()), cursor: expect.any(String) });
  expect(last).toMatchObject({ type: "run-ended", outcome: { kind: "completed" } });
});

test("who has left is forgotten: nothing polls, listens or keeps a ring for nobody", async () => {
  let heads = 0;
  const intercept: Intercept = (call, proceed) => {
    if (call.method === "head" || call.method === "pulse") heads += 1;
    return proceed();
  };
  await using t = await testRuntime({ agents: [asker], intercept, settings: { watchPollMs: 50 } });
  const run = await t.runtime.start(asker, "Go");
  await run.idle();
  for (let n = 0; n < 3; n += 1) {
    for await (const _event of run.watch()) break;
    for await (const _event of t.runtime.watch()) break;
  }
  await t.advance(100);
  const before = heads;
  await t.advance(10_000);
  expect(heads).toBe(before);
});
