/** Retention by policy and by hand: finished runs go whole, the others stay. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, isHoldfastError, tool, type WatchEvent } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { memory } from "../../src/stores/memory/memory.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";

const talks = agent({ name: "talks", instructions: "", model: scripted(Array.from({ length: 20 }, () => "Said.")) });
const ask = tool({ name: "ask", description: "Asks", input: z.object({}) });
const asks = agent({
  name: "asks",
  instructions: "",
  model: scripted([{ calls: [{ tool: "ask" }] }]),
  tools: [ask],
});
const hour = 3_600_000;

test("finished runs are erased when they are old enough; waiting and queued ones stay, however old", async () => {
  const settings = { pollMs: hour, leaseMs: 20 * hour, retention: { keepFinishedMs: 24 * hour, everyMs: hour } };
  await using t = await testRuntime({ agents: [talks, asks], settings });
  const old = await t.runtime.start(talks, "Hello", { thread: "t" });
  const waiting = await t.runtime.start(asks, "Ask me", { thread: "u" });
  const queued = await t.runtime.start(talks, "And me", { thread: "u", whenBusy: "queue" });
  await t.settle();
  await t.advance(23 * hour);
  const young = await t.runtime.start(talks, "Hello again", { thread: "t" });
  await t.settle();
  expect(await t.runtime.runs.count()).toBe(4);
  await t.advance(2 * hour);
  expect((await t.runtime.runs.list({ order: "oldest" })).items.map(({ run }) => run)).toEqual([
    waiting.id,
    queued.id,
    young.id,
  ]);
  await expect(old.status()).rejects.toThrow(/no run/);
  expect((await t.runtime.threads.get("t"))?.messages).toBe(2);
  await t.advance(300 * hour);
  expect(await t.runtime.runs.count()).toBe(2);
  expect((await waiting.status()).status).toBe("waiting");
});

test("without a policy nothing is ever erased, and how often it is looked for is the policy's matter", async () => {
  await using t = await testRuntime({ agents: [talks], settings: { pollMs: hour, leaseMs: 20 * hour } });
  await t.runtime.start(talks, "Hello");
  await t.advance(1_000 * hour);
  expect(await t.runtime.runs.count()).toBe(1);
  const looks: number[] = [];
  await using rare = await testRuntime({
    agents: [talks],
    settings: { pollMs: hour, leaseMs: 20 * hour, retention: { keepFinishedMs: 1, everyMs: 10 * hour } },
    intercept: (call, proceed) => {
      if (call.method === "prune") looks.push(1);
      return proceed();
    },
  });
  await rare.advance(95 * hour);
  expect(looks).toHaveLength(10);
});

test("a store that fails for a while stops no retention", async () => {
  let failures = 3;
  await using t = await testRuntime({
    agents: [talks],
    settings: { retention: { keepFinishedMs: hour } },
    intercept: (call, proceed) => {
      if (call.method !== "prune" || failures === 0) return proceed();
      failures -= 1;
      return Promise.reject(new Error("not now"));
    },
  });
  await t.runtime.start(talks, "Hello");
  await t.advance(2 * hour);
  expect(failures).toBe(0);
  expect(await t.runtime.runs.count()).toBe(0);
});

test("runs.prune erases by hand, the oldest first, and answers which; a watcher before them is told to look again", async () => {
  await using t = await testRuntime({ agents: [talks] });
  const runs = [];
  for (const text of ["one", "two", "three"]) {
    runs.push((await t.runtime.start(talks, text, { key: text })).id);
    await t.settle();
    await t.advance(1_000);
  }
  let after: string | undefined;
  for await (const event of t.runtime.watch()) {
    if ("cursor" in event) after = event.cursor;
    break;
  }
  const before = new Date(t.clock.now());
  const last = await t.runtime.start(talks, "four");
  await t.settle();
  expect(await t.runtime.runs.prune({ finishedBefore: before, limit: 2 })).toEqual(runs.slice(0, 2));
  expect(await t.runtime.runs.prune({ finishedBefore: before.getTime() })).toEqual(runs.slice(2));
  expect(await t.runtime.runs.prune({ finishedBefore: before })).toEqual([]);
  expect((await last.result()).outcome).toBe("completed");
  const seen: WatchEvent[] = [];
  for await (const event of t.runtime.watch({}, { after })) {
    seen.push(event);
    if (event.type === "run-ended") break;
  }
  expect(seen[0]).toMatchObject({ type: "resync", reason: "erased" });
  expect((await t.runtime.start(talks, "one", { key: "one" })).id).not.toBe(runs[0]);
});

test("bad policies and bad prunings are refused by name", async () => {
  const problemsOf = async (act: () => Promise<unknown>): Promise<readonly string[]> => {
    try {
      await act();
    } catch (cause) {
      if (isHoldfastError(cause, "invalid-options")) return cause.problems;
    }
    return [];
  };
  expect(await problemsOf(() => createRuntime({ agents: [talks], retention: {} as never }))).toEqual([
    "retention.keepFinishedMs: must be given",
  ]);
  expect(await problemsOf(() => createRuntime({ retention: { keepFinishedMs: 0, everyMs: 0.5 } }))).toEqual([
    expect.stringContaining("retention.keepFinishedMs: must be a whole number"),
    expect.stringContaining("retention.everyMs: must be a whole number"),
    "retention: needs agents: only a process that runs some erases old runs",
  ]);
  await using t = await testRuntime({ agents: [talks], store: memory() });
  expect(await problemsOf(() => t.runtime.runs.prune({ finishedBefore: Number.NaN, limit: 0 }))).toHaveLength(2);
  expect(await problemsOf(() => t.runtime.runs.prune({ finishedBefore: "now" as never }))).toHaveLength(1);
});

test("what is learned after the end is read as evidence", async () => {
  const store = memory();
  await using t = await testRuntime({ agents: [talks], store });
  const run = await t.runtime.start(talks, "Hello");
  await t.settle();
  expect(await run.evidence()).toEqual([]);
  const open = await store.open({ clock: t.clock, logger: { warn: () => undefined, note: () => undefined } });
  const [listed] = (await t.runtime.runs.list()).items;
  await open.addEvidence({ scope: "default" as never, run: listed!.run, kind: "late-result", body: { late: true } });
  expect(await t.runtime.runs.get(run.id).evidence()).toEqual([
    { kind: "late-result", at: t.clock.now(), body: { late: true } },
  ]);
  await expect(t.runtime.runs.get("none").evidence()).rejects.toThrow(/no run/);
});
