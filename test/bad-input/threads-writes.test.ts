/** Threads that cannot be made, changed or deleted as asked: refused by code, and nothing is written. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, tool } from "../../src/index.ts";
import type { Store, StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import type { Run, Runtime } from "../../src/runtime/runtime.ts";
import { silentLogger } from "../../src/testing/test-process.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const guarded = tool({
  name: "guarded",
  description: "Asks",
  input: z.object({}),
  needsApproval: true,
  execute: () => 1,
});
const asker = agent({
  name: "asker",
  model: scripted([{ calls: [{ tool: "guarded", input: {} }] }, "Done."]),
  instructions: "Ask.",
  tools: [guarded],
});

interface Stage extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly store: Store;
  /** It waits on the thread `busy`, whose child is `child`. */
  readonly run: Run;
}

async function aStage(definition: StoreDefinition): Promise<Stage> {
  const t = await testRuntime({ store: definition, agents: [asker] });
  const store = await definition.open({ clock: t.clock, logger: silentLogger });
  const run = await t.runtime.start(asker, "go", { thread: "busy" });
  await run.idle();
  await t.runtime.threads.create({ id: "child", parent: "busy" });
  return {
    runtime: t.runtime,
    store,
    run,
    async [Symbol.asyncDispose]() {
      await store.close();
      await t.close();
    },
  };
}

/** Every act is refused with its code; the store's head and the threads are as before. */
async function expectRefusals(
  { runtime, store }: Stage,
  acts: readonly (readonly [what: string, code: string, act: () => Promise<unknown>])[],
): Promise<void> {
  const before = [await store.head(), (await runtime.threads.list()).items, await runtime.runs.count()];
  for (const [what, code, act] of acts) await expect(act(), what).rejects.toMatchObject({ code });
  expect([await store.head(), (await runtime.threads.list()).items, await runtime.runs.count()]).toEqual(before);
}

onEveryStore((freshStore) => {
  test("a thread that does not fit is not created", async () => {
    await using stage = await aStage(freshStore());
    const { create } = stage.runtime.threads;
    const make = (options: unknown) => () => create(options as never);
    const deep: unknown[] = [];
    for (let level = 0, inner = deep; level < 40; level += 1) {
      const next: unknown[] = [];
      inner.push(next);
      inner = next;
    }
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    await expectRefusals(stage, [
      ["null", "invalid-options", make(null)],
      ["a string", "invalid-options", make("t")],
      ["an unknown option", "invalid-options", make({ name: "t" })],
      ["a title that is a number", "invalid-options", make({ title: 7 })],
      ["a title that is null", "invalid-options", make({ title: null })],
      ["a title with a lone surrogate", "invalid-options", make({ title: "\uD800" })],
      ["a title of a megabyte", "invalid-options", make({ title: "x".repeat(1_000_000) })],
      ["an empty id", "invalid-id", make({ id: "" })],
      ["an id that is a number", "invalid-id", make({ id: 7 })],
      ["an id with a control character", "invalid-id", make({ id: "a\u0000b" })],
      ["an id of 513 bytes", "invalid-id", make({ id: "x".repeat(513) })],
      ["an id that is taken", "thread-exists", make({ id: "busy" })],
      ["metadata that is a list", "invalid-options", make({ metadata: [] })],
      ["metadata that is null", "invalid-options", make({ metadata: null })],
      ["metadata with a function", "invalid-options", make({ metadata: { go: () => 1 } })],
      ["metadata in a circle", "invalid-options", make({ metadata: cyclic })],
      ["metadata too deep", "invalid-options", make({ metadata: { deep } })],
      ["metadata too large", "invalid-options", make({ metadata: { text: "x".repeat(65 * 1_024) } })],
      ["an unknown parent", "thread-not-found", make({ id: "t", parent: "nobody" })],
      ["itself as its parent", "invalid-options", make({ id: "t", parent: "t" })],
      ["a parent that is a number", "invalid-id", make({ id: "t", parent: 7 })],
      ["messages that are no list", "invalid-input", make({ messages: "hi" })],
      ["a message without parts", "invalid-input", make({ messages: [{ id: "m", role: "user" }] })],
      ["a message of a stranger", "invalid-input", make({ messages: [{ id: "m", role: "ghost", parts: [] }] })],
      ["a message with an empty id", "invalid-id", make({ messages: [{ id: "", role: "user", parts: [] }] })],
      ["one bad message of two", "invalid-input", make({ messages: [{ id: "m", role: "user", parts: [] }, null] })],
    ]);
  });

  test("a change that does not fit changes nothing", async () => {
    await using stage = await aStage(freshStore());
    const { change } = stage.runtime.threads;
    const make = (options: unknown) => () => change("busy", options as never);
    await expectRefusals(stage, [
      ["null", "invalid-options", make(null)],
      ["nothing", "invalid-options", make(undefined)],
      ["an unknown option", "invalid-options", make({ parent: "child" })],
      ["a title that is a number", "invalid-options", make({ title: 7 })],
      ["a title with a lone surrogate", "invalid-options", make({ title: "\uDC00" })],
      ["metadata that is a string", "invalid-options", make({ metadata: "x" })],
      ["a good title with bad metadata", "invalid-options", make({ title: "x", metadata: { a: 1n } })],
      ["an unknown thread", "thread-not-found", () => change("nobody", { title: "x" })],
    ]);
  });

  test("a thread with a run that is not done, and a run that is not done, are neither deleted nor erased", async () => {
    await using stage = await aStage(freshStore());
    const { runtime, run } = stage;
    const { threads, runs } = runtime;
    await expectRefusals(stage, [
      ["with children", "thread-has-children", () => threads.delete("busy")],
      ["detach", "thread-busy", () => threads.delete("busy", { children: "detach" })],
      ["cascade", "thread-busy", () => threads.delete("busy", { children: "cascade" })],
      ["erase", "thread-busy", () => runs.erase(run.id)],
      ["an unknown way", "invalid-options", () => threads.delete("child", { children: "drop" as never })],
      ["an unknown option", "invalid-options", () => threads.delete("child", { force: true } as never)],
      ["options that are none", "invalid-options", () => threads.delete("child", null as never)],
      ["an unknown thread", "thread-not-found", () => threads.delete("nobody", { children: "cascade" })],
      ["an unknown run", "run-not-found", () => runs.erase("nobody")],
      ["no run id", "invalid-id", () => runs.erase("")],
    ]);
    expect(await run.idle()).toMatchObject({ status: "waiting", tickets: [{ kind: "approval" }] });
  });

  test("a start that does not fit a busy thread is refused before the run that is there hears of it", async () => {
    await using stage = await aStage(freshStore());
    const { runtime } = stage;
    const say = (input: unknown, options: object) => () =>
      runtime.start(asker, input as never, { thread: "busy", ...options } as never);
    await expectRefusals(stage, [
      ["an unknown choice", "invalid-options", say("x", { whenBusy: "shout" })],
      ["a choice that is null", "invalid-options", say("x", { whenBusy: null })],
      ["nobody", "invalid-options", say("x", { whenBusy: "interrupt", by: "" })],
      ["a number as a person", "invalid-options", say("x", { whenBusy: "supersede", by: 7 })],
      ["no choice", "thread-busy", say("x", {})],
      ["reject", "thread-busy", say("x", { whenBusy: "reject" })],
      ["an empty steer", "invalid-input", say([], { whenBusy: "steer" })],
      ["a steer of nonsense", "invalid-input", say([{ type: "song" }], { whenBusy: "steer" })],
      ["context that nobody asked for", "invalid-input", say("x", { whenBusy: "interrupt", context: {} })],
    ]);
  });
});
