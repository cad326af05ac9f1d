import { expect, test } from "vitest";
import { z } from "zod";
import { createCollection } from "../../src/dispatchers/collection.ts";
import { defaultScope } from "../../src/domain/ids.ts";
import { agent, type ContentRef, createRuntime, memory, type Runtime, tool } from "../../src/index.ts";
import { nodeClock } from "../../src/platform/node-clock.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { contentOf } from "../../src/testing/conformance/store-fixtures.ts";
import { createFakeClock } from "../../src/testing/fake-clock.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const quiet = { warn: () => undefined, note: () => undefined };
const hour = 60 * 60_000;

const fetch = tool({
  name: "fetch",
  description: "Fetches",
  input: z.object({}),
  effect: "pure",
  execute: () => "word ".repeat(100_000),
});
const model = scripted([{ calls: [{ tool: "fetch", input: {} }] }, "Read.", "And again."]);
const reader = agent({ name: "reader", model, instructions: "", tools: [fetch] });

async function refIn(runtime: Runtime, thread: string): Promise<ContentRef> {
  const { items } = await runtime.threads.messages(thread);
  const part = items.flatMap(({ message }) => message.parts).find(({ type }) => type === "tool-result");
  if (part?.type !== "tool-result" || part.result.kind !== "value" || !part.result.content) throw new Error("none");
  return part.result.content;
}

/** Everything that nobody cites, however young. */
async function collectNow(definition: StoreDefinition): Promise<number> {
  const store = await definition.open({
    clock: { ...nodeClock, now: () => 4_000_000_000_000 },
    logger: quiet,
  });
  return (await store.collectContent({ scope: defaultScope, olderThanMs: 0, limit: 9 })).length;
}

onEveryStore((freshStore) => {
  test("K1 content stays as long as a run that cites it, a fork too", async () => {
    const store = freshStore();
    await using t = await testRuntime({ agents: [reader], store });
    const run = await t.runtime.start(reader, "go", { thread: "t" });
    await t.settle();
    const ref = await refIn(t.runtime, "t");
    const fork = await t.runtime.runs.fork(run.id, reader, { atStep: 2 });
    await t.settle();
    const { thread, status } = await fork.status();
    expect(status).toBe("done");
    expect(await refIn(t.runtime, thread)).toEqual(ref);
    await t.runtime.runs.erase(run.id);
    expect(await collectNow(store)).toBe(0);
    expect((await t.runtime.content.get(ref)).json()).toBe("word ".repeat(100_000));
    await t.runtime.runs.erase(fork.id);
    expect(await collectNow(store)).toBe(1);
    await expect(t.runtime.content.get(ref)).rejects.toMatchObject({ code: "content-not-found" });
  });
});

test("N1 a worker looks every hour and takes what nobody has cited for a day, however much it is", async () => {
  const clock = createFakeClock();
  const store = await memory().open({ clock, logger: quiet });
  const swept: number[] = [];
  const sweep = async (_scope: string, olderThanMs: number): Promise<void> => void swept.push(olderThanMs);
  const collection = createCollection({ store, clock, logger: quiet, scopes: [contentOf("").scope], sweep });
  for (let n = 0; n < 150; n += 1) await store.putContent(contentOf(`old ${n}`));
  const left = async (): Promise<number> => {
    const found = await Promise.all(Array.from({ length: 150 }, (_, n) => store.content(contentOf(`old ${n}`))));
    return found.filter(Boolean).length;
  };
  await clock.advance(23 * hour);
  expect([await left(), swept.length]).toEqual([150, 23]);
  await clock.advance(hour + 100);
  expect(await left()).toBe(0);
  expect(new Set(swept)).toEqual(new Set([24 * hour]));
  await collection.close();
});

test("content can be collected by hand, what is cited never", async () => {
  await using t = await testRuntime({ agents: [reader] });
  const run = await t.runtime.start(reader, "go", { thread: "t" });
  await t.settle();
  const ref = await refIn(t.runtime, "t");
  await t.advance("20m");
  expect(await t.runtime.content.collect({ olderThanMs: 600_000 })).toBe(0);
  await t.runtime.runs.erase(run.id);
  expect(await t.runtime.content.collect()).toBe(0);
  expect(await t.runtime.content.collect({ olderThanMs: 600_000 })).toBe(1);
  await expect(t.runtime.content.get(ref)).rejects.toMatchObject({ code: "content-not-found" });
});

test("N3 a worker takes content away in every scope that it serves, whatever becomes of another", async () => {
  const clock = createFakeClock();
  const store = await memory().open({ clock, logger: quiet });
  const scopes = ["ant", "bee", "cat"] as (typeof defaultScope)[];
  for (const scope of scopes) await store.putContent({ ...contentOf("old"), scope });
  const failing: typeof store = {
    ...store,
    collectContent: async (what) => {
      if (what.scope === scopes[0]) throw new Error("its place is away");
      return store.collectContent(what);
    },
  };
  const collection = createCollection({ store: failing, clock, logger: quiet, scopes });
  await clock.advance(25 * hour);
  const left = await Promise.all(scopes.map((scope) => store.content({ ...contentOf("old"), scope })));
  expect(left.map(Boolean)).toEqual([true, false, false]);
  await collection.close();
});

test("N3 a worker is given the scopes that it serves", async () => {
  const clock = createFakeClock();
  const store = memory();
  const scope = "ant" as typeof defaultScope;
  const opened = await store.open({ clock, logger: quiet });
  await opened.putContent({ ...contentOf("old"), scope });
  const runtime = await createRuntime({ agents: [reader], store, scopes: ["ant"], clock, logger: quiet });
  await clock.advance(25 * hour);
  expect(await opened.content({ ...contentOf("old"), scope })).toBeUndefined();
  const closing = runtime.close();
  await clock.advance(hour);
  await closing;
});
