/** Runs whose agent no worker has (U1–U3): they say so in a ticket, can be cancelled, and go on when a worker comes. */
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { agent, createRuntime, createWorker, type RunEvent, type Runtime, tool } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const quiet = { warn: () => undefined, note: () => undefined };
const limits = { unservedMs: 60 };
const patience = { timeout: 20_000 };

let acted = 0;
const act = tool({
  name: "act",
  description: "Acts",
  input: z.object({}),
  execute: () => {
    acted += 1;
    return "acted";
  },
});
const ann = agent({ name: "ann", instructions: "", model: scripted(["Ann."]) });
const bob = agent({
  name: "bob",
  instructions: "",
  tools: [act],
  model: scripted([{ calls: [{ tool: "act", input: {} }] }, "Bob."]),
});

interface Office {
  readonly desk: Runtime;
  work(who: typeof ann): Promise<{ close(): Promise<void> }>;
}

async function openOffice(store: StoreDefinition): Promise<Office> {
  const common = { store, logger: quiet, pollMs: 20 };
  const desk = await createRuntime(common);
  onTestFinished(() => desk.close());
  return {
    desk,
    work: async (who) => {
      const worker = await createWorker({ ...common, agents: [who], limits });
      onTestFinished(() => worker.close());
      return worker;
    },
  };
}

onEveryStore((freshStore) => {
  test(
    "U2, U3 a run of an agent that nobody has waits on a ticket, and goes on when a worker comes",
    patience,
    async () => {
      acted = 0;
      const { desk, work } = await openOffice(freshStore());
      await work(ann);
      const run = await desk.start(bob, "go");
      await run.idle();
      const [ticket, ...others] = await desk.tickets.list({ kind: "missing-capability", status: "open" });
      expect(others).toEqual([]);
      expect(ticket?.prompt).toBe("No worker has agent bob; start one that does, or cancel the run");
      expect(acted).toBe(0);
      await work(bob);
      expect(await run.output()).toBe("Bob.");
      expect(acted).toBe(1);
      const types: RunEvent["type"][] = [];
      for await (const event of run.watch()) if ("seq" in event) types.push(event.type as RunEvent["type"]);
      expect(types.filter((type) => type === "ticket-opened")).toHaveLength(1);
    },
  );

  test("U2 it can be cancelled, and released to be looked at again", patience, async () => {
    const { desk, work } = await openOffice(freshStore());
    await work(ann);
    const run = await desk.start(bob, "go");
    const other = await desk.start(bob, "go", { thread: "other" });
    await Promise.all([run.idle(), other.idle()]);
    await run.cancel();
    expect((await run.result()).outcome).toBe("cancelled");
    const [ticket] = await desk.tickets.list({ kind: "missing-capability", status: "open" });
    await ticket?.release();
    await vi.waitFor(async () => {
      const [next] = await desk.tickets.list({ kind: "missing-capability", status: "open" });
      expect(next?.id).not.toBe(ticket?.id);
      expect(next).toBeDefined();
    }, patience);
    const [next] = await desk.tickets.list({ kind: "missing-capability", status: "open" });
    await next?.cancelRun();
    expect((await other.result()).outcome).toBe("cancelled");
  });

  test("U1 a run whose agent some worker has is left alone, however busy that worker is", patience, async () => {
    const store = freshStore();
    const { desk, work } = await openOffice(store);
    const gate = Promise.withResolvers<void>();
    const slow = agent({
      name: "slow",
      instructions: "",
      tools: [
        tool({ name: "wait", description: "Waits", input: z.object({}), effect: "pure", execute: () => gate.promise }),
      ],
      model: scripted([{ calls: [{ tool: "wait", input: {} }] }, "Slow."]),
    });
    const worker = await createWorker({ store, agents: [slow], concurrency: 1, logger: quiet, pollMs: 20 }); // announces for long
    onTestFinished(() => worker.close());
    await work(ann);
    const runs = [await desk.start(slow, "one"), await desk.start(slow, "two")];
    await new Promise((resolve) => setTimeout(resolve, limits.unservedMs * 10));
    expect(await desk.tickets.list({ kind: "missing-capability" })).toEqual([]);
    gate.resolve();
    expect(await Promise.all(runs.map((run) => run.output()))).toEqual(["Slow.", "Slow."]);
  });
});
