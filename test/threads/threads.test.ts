/** Threads as a user has them: named, related, pointing at their runs, deleted and erased wholly. */
import { expect, test } from "vitest";
import { z } from "zod";
import { defaultScope, type MessageId, type RunId, type ThreadId } from "../../src/domain/ids.ts";
import { type Message, textOf } from "../../src/domain/message.ts";
import { pointersAfter, type ThreadPointers } from "../../src/domain/seed-tables/thread-pointers.ts";
import { agent, tool } from "../../src/index.ts";
import type { Store, StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import type { Thread } from "../../src/runtime/thread-shapes.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { silentLogger } from "../../src/testing/test-process.ts";
import { type TestRuntime, testRuntime } from "../../src/testing/test-runtime.ts";
import { aGate } from "../scenarios/moments.ts";
import { onEveryStore } from "../scenarios/stores.ts";
import { until } from "./busy-story.ts";

const scope = defaultScope;
const guarded = tool({
  name: "guarded",
  description: "Asks",
  input: z.object({}),
  needsApproval: true,
  execute: () => 1,
});
const talker = agent({
  name: "talker",
  model: scripted(
    Array.from({ length: 4 }, () => ({ messages }) => {
      const last = messages.at(-1);
      if (last && textOf(last) === "ask") return { calls: [{ tool: "guarded", input: {} }] };
      return `Heard ${messages.map((each) => `${each.role} ${textOf(each)}`).join(", ")}.`;
    }),
  ),
  instructions: "Talk.",
  tools: [guarded],
});

function message(id: string, role: Message["role"] = "user"): Message {
  return { id: id as MessageId, role, parts: [{ type: "text", text: id }], visibility: "all" };
}

function start(store: StoreDefinition): Promise<TestRuntime> {
  return testRuntime({ store, agents: [talker] });
}

function reader(store: StoreDefinition, t: TestRuntime): Promise<Store> {
  return store.open({ clock: t.clock, logger: silentLogger });
}

onEveryStore((freshStore) => {
  test("a thread is created once, with title and metadata, and both can be changed", async () => {
    await using t = await start(freshStore());
    const { threads } = t.runtime;
    const made = await threads.create({ id: "t", title: "First", metadata: { tags: ["a"], n: 1 } });
    expect(made).toMatchObject({ id: "t", title: "First", metadata: { tags: ["a"], n: 1 }, messages: 0, queued: 0 });
    expect(await threads.get("t")).toEqual(made);
    await expect(threads.create({ id: "t" })).rejects.toMatchObject({ code: "thread-exists" });
    await t.advance("1s");
    const changed = await threads.change("t", { title: "Second" });
    expect(changed).toEqual({ ...made, title: "Second", updatedAt: made.updatedAt + 1_000 });
    expect(await threads.change("t", { metadata: {} })).toEqual({ ...changed, metadata: {} });
    const bare = await threads.change("t", { title: null });
    expect(bare).not.toHaveProperty("title");
    expect((await threads.create()).id).not.toBe((await threads.create()).id);
  });

  test("a thread that a run began is a thread like any other", async () => {
    await using t = await start(freshStore());
    const { run } = await t.runtime.run(talker, "hello", { thread: "t" });
    const { threads } = t.runtime;
    expect(await threads.get("t")).toMatchObject({ metadata: {}, messages: 2, latestRun: run, queued: 0 });
    expect(await threads.change("t", { title: "Named" })).toMatchObject({ title: "Named", latestRun: run });
    await expect(threads.create({ id: "t" })).rejects.toMatchObject({ code: "thread-exists" });
  });

  test("XA-13 a thread points at its run as the table says, in every state of its life", async () => {
    let held = true;
    const gate = aGate();
    const intercept: Intercept = async (call, proceed) => {
      if (held && call.method === "claim") return [] as never;
      if (call.method === "execute") await gate.opened;
      return proceed();
    };
    await using t = await testRuntime({ store: freshStore(), agents: [talker], intercept });
    const { runtime } = t;
    const run = await runtime.start(talker, "ask", { thread: "t" });
    const seen: ThreadPointers[] = [];
    const look = async (): Promise<void> => {
      seen.push(pointers(await runtime.threads.get("t")));
    };
    await look();
    held = false;
    await t.advance("1m");
    await run.idle();
    await look();
    const [ticket] = await runtime.tickets.list({ run: run.id, kind: "approval" });
    await ticket?.approve();
    await until(async () => (await run.status()).status === "running");
    await look();
    gate.open();
    await run.result();
    await look();
    let expected: ThreadPointers = {};
    const life = (["created", "waiting", "running", "done"] as const).map((status) => {
      expected = pointersAfter(expected, { run: run.id, status });
      return expected;
    });
    expect(seen).toEqual(life);
  });

  test("a run reads the history that its thread was created with", async () => {
    await using t = await start(freshStore());
    const { runtime } = t;
    const history = [message("hi"), message("hello", "assistant"), message("how are you?")];
    const thread = await runtime.threads.create({ id: "t", messages: history });
    expect(thread).toMatchObject({ messages: 3, queued: 0 });
    expect(thread).not.toHaveProperty("openRun");
    const { items } = await runtime.threads.messages("t", { order: "oldest" });
    expect(items.map((item) => item.message)).toEqual(history);
    const result = await runtime.run(talker, "fine?", { thread: "t" });
    expect(result).toMatchObject({ output: "Heard user hi, assistant hello, user how are you?, user fine?." });
    expect(await runtime.threads.get("t")).toMatchObject({ messages: 5, latestRun: result.run });
    const empty = await runtime.threads.create({ id: "empty", messages: [] });
    expect(empty.messages).toBe(0);
    expect(await runtime.run(talker, "hm", { thread: "empty" })).toMatchObject({ output: "Heard user hm." });
  });

  test("imported history is durable and never claimed", async () => {
    await using t = await start(freshStore());
    await t.runtime.threads.create({ id: "t", messages: [message("hi")] });
    await t.restart();
    await t.advance("1h");
    expect((await t.runtime.threads.get("t"))?.messages).toBe(1);
    expect(await t.runtime.run(talker, "ho", { thread: "t" })).toMatchObject({ output: "Heard user hi, user ho." });
    expect(await t.runtime.runs.count({ status: "done" })).toBe(2);
  });

  test("a parent exists and is not the thread itself; otherwise nothing is created", async () => {
    const store = freshStore();
    await using t = await start(store);
    const read = await reader(store, t);
    const { threads } = t.runtime;
    await threads.create({ id: "a" });
    const before = await read.head();
    await expect(threads.create({ id: "b", parent: "nobody" })).rejects.toMatchObject({ code: "thread-not-found" });
    const own = threads.create({ id: "c", parent: "c", messages: [message("hi")] });
    await expect(own).rejects.toMatchObject({ code: "invalid-options" });
    expect(await threads.get("b")).toBeUndefined();
    expect(await threads.get("c")).toBeUndefined();
    expect(await read.head()).toBe(before);
    expect(await threads.create({ id: "b", parent: "a" })).toMatchObject({ parent: "a" });
    await read.close();
  });

  test("a thread with children is deleted only when it is said what becomes of them", async () => {
    await using t = await start(freshStore());
    const { threads } = t.runtime;
    for (const [id, parent] of [["a"], ["b", "a"], ["c", "b"], ["d", "a"], ["z"]] as const) {
      await threads.create({ id, ...(parent && { parent }) });
    }
    await expect(threads.delete("a")).rejects.toMatchObject({ code: "thread-has-children" });
    await expect(threads.delete("a", { children: "reject" })).rejects.toMatchObject({ code: "thread-has-children" });
    expect(await threads.delete("b", { children: "detach" })).toEqual({ threads: 1, runs: 0 });
    expect(await threads.get("c")).not.toHaveProperty("parent");
    const roots = await threads.list({ parent: null, order: "oldest" });
    expect(roots.items.map(({ id }) => id)).toEqual(["a", "c", "z"]);
    await threads.create({ id: "e", parent: "d" });
    expect(await threads.delete("a", { children: "cascade" })).toEqual({ threads: 3, runs: 0 });
    expect((await threads.list({ order: "oldest" })).items.map(({ id }) => id)).toEqual(["c", "z"]);
  });

  test("a thread whose run, or whose descendant's run, is not done is not deleted, and nothing of it is", async () => {
    const store = freshStore();
    await using t = await start(store);
    const read = await reader(store, t);
    const { runtime } = t;
    await runtime.threads.create({ id: "a" });
    await runtime.threads.create({ id: "b", parent: "a" });
    await runtime.run(talker, "done", { thread: "a" });
    await runtime.run(talker, "done", { thread: "b" });
    const run = await runtime.start(talker, "ask", { thread: "b" });
    await run.idle();
    const before = await read.head();
    const busy = { code: "thread-busy", details: { run: run.id } };
    await expect(runtime.threads.delete("b")).rejects.toMatchObject(busy);
    await expect(runtime.threads.delete("a", { children: "cascade" })).rejects.toMatchObject(busy);
    await expect(runtime.runs.erase(run.id)).rejects.toMatchObject(busy);
    expect(await read.head()).toBe(before);
    expect(await runtime.runs.count()).toBe(3);
    const [ticket] = await runtime.tickets.list({ run: run.id, kind: "approval" });
    await ticket?.approve();
    await run.result();
    expect(await runtime.threads.delete("a", { children: "cascade" })).toEqual({ threads: 2, runs: 3 });
    await read.close();
  });

  test("a deleted thread is in no read, its keys and id are free again, and its neighbours are untouched", async () => {
    const store = freshStore();
    await using t = await start(store);
    const read = await reader(store, t);
    const { runtime } = t;
    await runtime.threads.create({ id: "t", title: "Old", messages: [message("hi")] });
    const gone = await approved(t, "t");
    await keepMore(read, gone);
    const kept = await approved(t, "kept");
    const neighbour = await everythingOf(read, kept, "kept");
    const numbers = (await read.runs({ scope, order: "newest", limit: 1 }))[0]?.no ?? 0;
    expect(await runtime.threads.delete("t")).toEqual({ threads: 1, runs: 2 });
    expect(await everythingOf(read, gone, "t")).toEqual(nothingOf);
    expect(await everythingOf(read, kept, "kept")).toEqual(neighbour);
    const journal = await read.readAll({ scope, after: 0, limit: 1_000 });
    expect(journal.filter(({ thread }) => thread === "t")).toEqual([]);
    const handle = runtime.runs.get(gone);
    for (const verb of ["status", "result", "idle", "cancel", "pause", "terminalEvent"] as const) {
      await expect(handle[verb](), verb).rejects.toMatchObject({ code: "run-not-found" });
    }
    await expect(handle.send("x")).rejects.toMatchObject({ code: "run-not-found" });
    const again = await runtime.start(talker, "ask", { thread: "t", key: "key of t" });
    expect(again.id).not.toBe(gone);
    expect((await read.runs({ scope, order: "newest", limit: 1 }))[0]?.no).toBeGreaterThan(numbers);
    expect(await runtime.threads.get("t")).toMatchObject({ metadata: {} });
    expect(await runtime.threads.get("t")).not.toHaveProperty("title");
    await read.close();
  });

  test("an erased run is in no read, and the runs before and after it on its thread are untouched", async () => {
    const store = freshStore();
    await using t = await start(store);
    const read = await reader(store, t);
    const { runtime } = t;
    const first = await approved(t, "t", "k1");
    const second = await approved(t, "t", "k2");
    const third = await approved(t, "t", "k3");
    for (const run of [first, second, third]) await keepMore(read, run);
    const others = async () => Promise.all([first, third].map((run) => everythingOf(read, run, "elsewhere")));
    const before = await others();
    await runtime.runs.erase(second);
    expect(await everythingOf(read, second, "elsewhere")).toEqual(nothingOf);
    expect(await others()).toEqual(before);
    expect(await runtime.threads.get("t")).toMatchObject({ messages: 8, latestRun: third });
    const { items } = await runtime.threads.messages("t", { order: "oldest" });
    expect(items.map(({ run }) => run)).not.toContain(second);
    expect(items.map(({ position }) => position)).toEqual([1, 2, 3, 4, 9, 10, 11, 12]);
    await expect(runtime.runs.erase(second)).rejects.toMatchObject({ code: "run-not-found" });
    await runtime.runs.erase(third);
    expect(await runtime.threads.get("t")).toMatchObject({ messages: 4, latestRun: first });
    const next = await runtime.run(talker, "next", { thread: "t" });
    expect(next).toMatchObject({ outcome: "completed" });
    const { items: newest } = await runtime.threads.messages("t", { limit: 1 });
    expect(newest[0]?.position).toBe(14);
    await read.close();
  });
});

function pointers(thread: Thread | undefined): ThreadPointers {
  return {
    ...(thread?.latestRun === undefined ? {} : { latest: thread.latestRun }),
    ...(thread?.activeRun === undefined ? {} : { active: thread.activeRun }),
    ...(thread?.openRun === undefined ? {} : { open: thread.openRun }),
  };
}

async function keepMore(store: Store, run: RunId): Promise<void> {
  await store.addEvidence({ scope, run, kind: "late-result", body: { late: true } });
  await store.saveSnapshot({ scope, run }, { seq: 1, foldVersion: 0, state: "{}" });
}

/** A run with a ticket, a start key and an input that was withdrawn. */
async function approved({ runtime }: TestRuntime, thread: string, key = `key of ${thread}`): Promise<RunId> {
  const run = await runtime.start(talker, "ask", { thread, key });
  await run.idle();
  await (await run.send("never mind")).withdraw();
  const [ticket] = await runtime.tickets.list({ run: run.id, kind: "approval" });
  await ticket?.approve();
  await run.result();
  return run.id;
}

const nothingOf = {
  row: undefined,
  journal: [],
  tickets: [],
  snapshot: undefined,
  evidence: [],
  listed: [],
  thread: undefined,
  messages: [],
  inThread: [],
  runsInThread: 0,
};

async function everythingOf(store: Store, run: RunId, name: string): Promise<unknown> {
  const key = { scope, run };
  const thread = name as ThreadId;
  const all = await store.runs({ scope, order: "oldest", limit: 1_000 });
  return {
    row: await store.run(key),
    journal: await store.readRun({ ...key, after: 0, limit: 1_000 }),
    tickets: await store.tickets({ scope, run, limit: 100 }),
    snapshot: await store.snapshot(key),
    evidence: await store.evidence(key),
    listed: all.filter((each) => each.run === run),
    thread: await store.thread({ scope, thread }),
    messages: await store.messages({ scope, thread, order: "oldest", limit: 100 }),
    inThread: await store.readThread({ scope, thread, limit: 100 }),
    runsInThread: await store.countRuns({ scope, thread }),
  };
}
