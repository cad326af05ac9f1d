import { expect, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, memory, tool } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { aModelThat, anAgentWith, callsTool, given, says } from "../../src/testing/story.ts";
import { aGate, aMoment, never, untilAborted } from "./moments.ts";
import { onEveryStore } from "./stores.ts";

const nothing = z.object({});

onEveryStore((freshStore) => {
  test("close waits for what is in flight to settle, and writes it down", async () => {
    const gate = aGate();
    const slow = tool({
      name: "slow",
      description: "Slow",
      input: nothing,
      execute: () => gate.opened.then(() => "ok"),
    });
    const model = aModelThat(callsTool("slow"), says("Done."));
    const story = await given(anAgentWith(slow), model, { store: freshStore() });
    const run = await story.userSays("go");
    await aMoment();
    let closed = false;
    const closing = story.t.close().then(() => {
      closed = true;
    });
    await aMoment();
    expect(closed).toBe(false);
    gate.open();
    await closing;
    expect(await story.results(run)).toEqual([{ kind: "value", value: "ok" }]);
    // Nothing new was begun, and nobody has to wait for a lease: the next process goes on at once.
    expect((await story.journal(run)).at(-1)?.type).toBe("step-started");
  });

  test("close gives up on what hangs after its grace, and the run goes on in the next process", async () => {
    const heard: string[] = [];
    const slow = tool({
      name: "slow",
      description: "Slow",
      input: nothing,
      effect: "idempotent",
      execute: (_input, { signal, attempt }) => {
        if (attempt > 1) return "ok";
        signal.addEventListener("abort", () => heard.push("abort"));
        return never();
      },
    });
    const store = freshStore();
    const model = aModelThat(callsTool("slow"), says("Done."));
    const story = await given(anAgentWith(slow), model, { store });
    const run = await story.userSays("go");
    await aMoment();
    await story.close();
    expect(heard).toEqual(["abort"]);
    await story.restart();
    await story.expectReply(run, "Done.");
    expect(story.effects(slow)).toHaveLength(2);
    await story.close();
  });

  test("close ends every wait with runtime-closed, loses no run, and is one close however often it is asked", async () => {
    const ask = tool({ name: "ask", description: "Asks", input: nothing });
    const model = aModelThat(callsTool("ask"), says("Done."));
    const story = await given(anAgentWith(ask), model, { store: freshStore() });
    const run = await story.userSays("go");
    await story.expectWaitingFor(run, "ask");
    const waiting = run.result();
    await Promise.all([story.t.close(), story.t.close()]);
    await expect(waiting).rejects.toMatchObject({ code: "runtime-closed", details: { run: run.id } });
    await expect(story.userSays("more")).rejects.toMatchObject({ code: "runtime-closed" });
    await story.restart();
    await story.answer(run, "ask", "yes");
    await story.expectReply(run, "Done.");
    await story.close();
  });

  test("a cooperative tool that closes with its runtime leaves an unknown outcome, not a lost one", async () => {
    const once = tool({
      name: "once",
      description: "Acts once",
      input: nothing,
      execute: (_input, { signal }) => untilAborted(signal),
    });
    const model = aModelThat(callsTool("once"), says("Done."));
    const story = await given(anAgentWith(once), model, { store: freshStore() });
    const run = await story.userSays("go");
    await aMoment();
    await story.close();
    await story.restart();
    await story.expectWaitingFor(run, "unknown-outcome");
    expect(story.effects(once)).toHaveLength(1);
    await story.close();
  });

  test("a caller's own signal ends its wait and nothing else", async () => {
    const ask = tool({ name: "ask", description: "Asks", input: nothing });
    await using story = await given(anAgentWith(ask), aModelThat(callsTool("ask"), says("Done.")), {
      store: freshStore(),
    });
    const run = await story.userSays("go");
    const stop = new AbortController();
    const waiting = run.result({ signal: stop.signal });
    await aMoment();
    stop.abort(new Error("tired"));
    await expect(waiting).rejects.toMatchObject({
      code: "wait-aborted",
      details: { run: run.id },
      cause: stop.signal.reason,
    });
    await expect(run.idle({ signal: stop.signal })).rejects.toMatchObject({ code: "wait-aborted" });
    await story.answer(run, "ask", 1);
    await story.expectReply(run, "Done.");
  });
});

test("close closes the bus and the store, whichever of them fails", async () => {
  const closed: string[] = [];
  const definition = memory();
  const failing: StoreDefinition = {
    name: "failing",
    open: async (deps) => ({
      ...(await definition.open(deps)),
      close: async () => void closed.push("store"),
    }),
    bus: () => ({
      publish: async () => undefined,
      subscribe: () => () => undefined,
      close: async () => {
        closed.push("bus");
        throw new Error("the bus is gone");
      },
    }),
  };
  const runtime = await createRuntime({ store: failing });
  await expect(runtime.close()).rejects.toThrow("the bus is gone");
  expect(closed).toEqual(["bus", "store"]);
});

test("a start during close is refused like one after it", async () => {
  const teller = agent({ name: "teller", model: scripted(["ok"]), instructions: "" });
  const runtime = await createRuntime();
  const closing = runtime.close();
  await expect(runtime.start(teller, "late")).rejects.toMatchObject({ code: "runtime-closed" });
  await closing;
  await expect(runtime.start(teller, "late")).rejects.toMatchObject({ code: "runtime-closed" });
});
