/** runs.fork: another run goes on from the messages before a step; the run it came from does not notice. */
import { expect, test } from "vitest";
import { z } from "zod";
import { defaultScope } from "../../src/domain/ids.ts";
import { type Message, textOf } from "../../src/domain/message.ts";
import { agent, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { type ScriptedAnswer, scripted } from "../../src/providers/scripted.ts";
import type { Run } from "../../src/runtime/runtime.ts";
import { type TestRuntime, testRuntime } from "../../src/testing/test-runtime.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const look = tool({
  name: "look",
  description: "Looks",
  input: z.object({ at: z.number() }),
  effect: "idempotent",
  execute: ({ at }) => `seen ${at}`,
});
const guarded = tool({
  name: "guarded",
  description: "Asks",
  input: z.object({}),
  needsApproval: true,
  execute: () => 1,
});

/** Looks twice, then says what it has been shown. */
const walker = agent({
  name: "walker",
  model: scripted(Array.from({ length: 9 }, () => next)),
  instructions: "Walk.",
  tools: [look, guarded],
});

function next({ messages }: ModelRequest): ScriptedAnswer {
  const results = messages.filter(({ role }) => role === "tool").length;
  if (messages.some((message) => textOf(message) === "ask")) return { calls: [{ tool: "guarded", input: {} }] };
  const last = messages.at(-1);
  if (last && textOf(last) === "fail") return { error: "model-refused" };
  return results < 2 ? lookAt(results + 1) : `Shown ${messages.map(word).join(" ")}.`;
}

function lookAt(at: number): ScriptedAnswer {
  return { calls: [{ tool: "look", input: { at } }] };
}

function word({ role, parts }: Message): string {
  const [part] = parts;
  if (part?.type === "tool-call") return "call";
  if (part?.type === "tool-result") return part.result.kind === "value" ? String(part.result.value) : part.result.code;
  return `${role}:${part?.type === "text" ? part.text : ""}`;
}

function start(store: StoreDefinition): Promise<TestRuntime> {
  return testRuntime({ store, agents: [walker] });
}

async function journal(run: Pick<Run, "id">, t: TestRuntime, definition: StoreDefinition) {
  const logger = { warn: () => undefined, note: () => undefined };
  const store = await definition.open({ clock: t.clock, logger });
  const entries = await store.readRun({ scope: defaultScope, run: run.id, after: 0, limit: 1_000 });
  await store.close();
  return entries;
}

async function messagesIn(thread: string, { runtime }: TestRuntime): Promise<readonly string[]> {
  const { items } = await runtime.threads.messages(thread, { order: "oldest", limit: 100 });
  return items.map(({ message }) => word(message));
}

onEveryStore((freshStore) => {
  test.each([
    [1, ["user:go"]],
    [2, ["user:go", "call", "seen 1"]],
    [3, ["user:go", "call", "seen 1", "call", "seen 2"]],
  ])(
    "a fork of an ended run at step %d begins with the messages before it, on a thread of its own",
    async (atStep, before) => {
      const store = freshStore();
      await using t = await start(store);
      const run = await t.runtime.start(walker, "go", { thread: "t" });
      const { outcome } = await run.result();
      expect(outcome).toBe("completed");
      const original = await journal(run, t, store);
      const fork = await t.runtime.runs.fork(run.id, walker, { atStep });
      expect(fork.id).not.toBe(run.id);
      const said = "Shown user:go call seen 1 call seen 2.";
      expect(await fork.result()).toMatchObject({ outcome: "completed", output: said, steps: 4 - atStep });
      const [created, ...rest] = await journal(fork, t, store);
      expect(created).toMatchObject({ type: "run-created", forkedFrom: { run: run.id, step: atStep } });
      const thread = created?.type === "run-created" ? created.identity.thread : "";
      expect(thread).not.toBe("t");
      expect((await messagesIn(thread, t)).slice(0, before.length)).toEqual(before);
      expect(rest.filter((entry) => entry.type === "message-appended" && entry.body.kind === "created")).toHaveLength(
        before.length,
      );
      expect(await journal(run, t, store)).toEqual(original);
      expect(await messagesIn("t", t)).toHaveLength(6);
      const keys = t.effects(look).map(({ key }) => key);
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys).toHaveLength(2 + (3 - atStep));
    },
  );

  test("a fork takes the thread's history before the run, and nothing of the runs after it", async () => {
    await using t = await start(freshStore());
    for (const text of ["one", "two", "three"]) await t.runtime.run(walker, text, { thread: "t" });
    const { items } = await t.runtime.runs.list({ order: "oldest" });
    const fork = await t.runtime.runs.fork(items[1]?.run ?? "", walker, { atStep: 1 });
    const { output } = (await fork.result()) as { output: string };
    expect(output).toContain("user:one call seen 1 call seen 2 assistant:");
    expect(output).toContain("user:two");
    expect(output).not.toContain("user:three");
  });

  test("a fork of a run whose step came to nothing has nothing of later runs either", async () => {
    await using t = await start(freshStore());
    const { run, outcome } = await t.runtime.run(walker, "fail", { thread: "t" });
    expect(outcome).toBe("failed");
    await t.runtime.run(walker, "two", { thread: "t" });
    const fork = await t.runtime.runs.fork(run, walker, { atStep: 1 });
    expect((await fork.result()).outcome).toBe("failed");
    const [listed] = (await t.runtime.runs.list({ limit: 1 })).items;
    expect(listed?.run).toBe(fork.id);
    expect(await messagesIn(listed?.thread ?? "", t)).toEqual(["user:fail"]);
  });

  test("a fork of a run that waits goes its own way, and the run still waits", async () => {
    const store = freshStore();
    await using t = await start(store);
    const run = await t.runtime.start(walker, "ask", { thread: "t" });
    await run.idle();
    const before = await journal(run, t, store);
    const fork = await t.runtime.runs.fork(run.id, walker, { atStep: 1 });
    expect(await fork.idle()).toMatchObject({ status: "waiting", tickets: [{ run: fork.id, kind: "approval" }] });
    expect(await journal(run, t, store)).toEqual(before);
    expect((await t.runtime.tickets.list({ run: run.id, status: "open" })).length).toBe(1);
    await (await fork.cancel()).receipt();
    expect(await journal(run, t, store)).toEqual(before);
  });

  test("the same fork key gives the same run, another step or run with it is refused", async () => {
    await using t = await start(freshStore());
    const one = await t.runtime.run(walker, "go", { thread: "t" });
    const two = await t.runtime.run(walker, "go", { thread: "u" });
    const { fork } = t.runtime.runs;
    const first = await fork(one.run, walker, { atStep: 2, key: "k" });
    expect((await fork(one.run, walker, { atStep: 2, key: "k" })).id).toBe(first.id);
    await first.result();
    expect((await fork(one.run, walker, { atStep: 2, key: "k" })).id).toBe(first.id);
    for (const [run, atStep] of [
      [one.run, 1],
      [two.run, 2],
    ] as const) {
      await expect(fork(run, walker, { atStep, key: "k" })).rejects.toMatchObject({
        code: "start-key-conflict",
        details: { key: "k", run: first.id },
      });
    }
    expect(await t.runtime.runs.count()).toBe(3);
  });

  test("a fork of a fork names the fork", async () => {
    const store = freshStore();
    await using t = await start(store);
    const { run } = await t.runtime.run(walker, "go");
    const fork = await t.runtime.runs.fork(run, walker, { atStep: 3 });
    await fork.result();
    const again = await t.runtime.runs.fork(fork.id, walker, { atStep: 1 });
    expect(await again.result()).toMatchObject({ output: "Shown user:go call seen 1 call seen 2." });
    const [created] = await journal(again, t, store);
    expect(created).toMatchObject({ forkedFrom: { run: fork.id, step: 1 } });
  });

  test("a fork outlives its original", async () => {
    await using t = await start(freshStore());
    const { run } = await t.runtime.run(walker, "go", { thread: "t" });
    const fork = await t.runtime.runs.fork(run, walker, { atStep: 2 });
    await fork.result();
    await t.runtime.threads.delete("t");
    expect(await fork.output()).toBe("Shown user:go call seen 1 call seen 2.");
    await expect(t.runtime.runs.fork(run, walker, { atStep: 1 })).rejects.toMatchObject({ code: "run-not-found" });
  });

  test("a fork has its original's context, as it was checked", async () => {
    const context = z.object({ user: z.string().transform((name) => name.length) });
    const polite = agent({
      name: "polite",
      model: scripted([({ instructions }) => instructions]),
      instructions: ({ user }) => `Greet ${user}.`,
      context,
    });
    await using t = await testRuntime({ store: freshStore(), agents: [polite] });
    const { run } = await t.runtime.run(polite, "go", { context: { user: "ada" } as never });
    const fork = await t.runtime.runs.fork(run, polite, { atStep: 1 });
    expect(await fork.output()).toBe("Greet 3.");
  });

  test("a step that was not begun, and options that do not fit, are refused, and nothing is written", async () => {
    const store = freshStore();
    await using t = await start(store);
    const { run } = await t.runtime.run(walker, "go", { thread: "t" });
    const waiting = await t.runtime.start(walker, "ask", { thread: "u" });
    await waiting.idle();
    const queued = await t.runtime.start(walker, "later", { thread: "u", whenBusy: "queue" });
    const count = await t.runtime.runs.count();
    const fork = (id: string, options: unknown) => t.runtime.runs.fork(id, walker, options as never);
    for (const atStep of [4, 100, 0, -1, 1.5, Number.NaN, "1", null, undefined]) {
      await expect(fork(run, { atStep }), String(atStep)).rejects.toMatchObject({ code: "invalid-options" });
    }
    await expect(fork(waiting.id, { atStep: 2 })).rejects.toMatchObject({ code: "invalid-options" });
    await expect(fork(queued.id, { atStep: 1 })).rejects.toMatchObject({ code: "invalid-options" });
    for (const options of [undefined, null, {}, { atStep: 1, thread: "t" }]) {
      await expect(fork(run, options)).rejects.toMatchObject({ code: "invalid-options" });
    }
    await expect(fork(run, { atStep: 1, key: "" })).rejects.toMatchObject({ code: "invalid-id" });
    const stranger = agent({ name: "stranger", model: scripted([]), instructions: "None." });
    await expect(t.runtime.runs.fork(run, stranger, { atStep: 1 })).rejects.toMatchObject({ code: "unknown-agent" });
    expect(await t.runtime.runs.count()).toBe(count);
  });
});
