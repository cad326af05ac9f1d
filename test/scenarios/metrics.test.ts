import { expect, test, vi } from "vitest";
import { z } from "zod";
import { agent, createRuntime, createWorker, memory, type StoreDefinition, tool } from "../../src/index.ts";
import type { Store } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { silentLogger } from "../../src/testing/test-process.ts";

function gated(): { readonly clerk: ReturnType<typeof agent>; readonly finish: () => void } {
  const gate = Promise.withResolvers<string>();
  const wait = tool({
    name: "wait",
    description: "Wait",
    input: z.object({}),
    effect: "pure",
    execute: () => gate.promise,
  });
  const model = scripted([{ calls: [{ tool: "wait" }] }, "ok"]);
  return { clerk: agent({ name: "clerk", model, instructions: "-", tools: [wait] }), finish: () => gate.resolve("on") };
}

/** The first commit is answered in another way. */
function firstCommit(answer: (store: Store) => Store["commit"]): StoreDefinition {
  let isFirst = true;
  return {
    name: "memory",
    async open(deps) {
      const store = await memory().open(deps);
      const other = answer(store);
      return {
        ...store,
        commit(asked) {
          const commit = isFirst ? other : store.commit;
          isFirst = false;
          return commit(asked);
        },
      };
    },
  };
}

test("what waits, what is in hand and what was committed are plain numbers, in a runtime, a worker and a front desk", async () => {
  const { clerk, finish } = gated();
  const store = memory();
  await using desk = await createRuntime({ store, logger: silentLogger });
  const runs = await Promise.all([1, 2, 3].map(() => desk.start(clerk, "go")));
  expect(await desk.metrics()).toMatchObject({ queueDepth: 3, runsInHand: 0, commits: 0, meanGroupSize: 0 });
  await using worker = await createWorker({ agents: [clerk], store, logger: silentLogger, concurrency: 1 });
  await vi.waitFor(async () => expect(await worker.metrics()).toMatchObject({ queueDepth: 2, runsInHand: 1 }));
  expect((await desk.metrics()).queueDepth).toBe(2);
  finish();
  await Promise.all(runs.map((run) => run.result()));
  await vi.waitFor(async () => expect(await worker.metrics()).toMatchObject({ queueDepth: 0, runsInHand: 0 }));
  const { commits, groupCommits, meanGroupSize, largestGroupSize, ...rest } = await worker.metrics();
  expect(commits).toBeGreaterThanOrEqual(6);
  expect([groupCommits, meanGroupSize, largestGroupSize]).toEqual([commits, 1, 1]); // memory shares no transactions
  expect(rest).toMatchObject({ leasesLost: 0, fencedWrites: 0, feedHidden: 0, feedLagMs: 0, queueLagMs: 0 });
});

test("a write that another worker's epoch refuses is a fenced write and a lost lease", async () => {
  const { clerk, finish } = gated();
  finish();
  const store = firstCommit(() => async () => ({ kind: "fenced" }));
  await using runtime = await createRuntime({ agents: [clerk], store, logger: silentLogger, leaseMs: 300, pollMs: 20 });
  const run = await runtime.start(clerk, "go");
  expect((await run.result()).outcome).toBe("completed");
  expect(await runtime.metrics()).toMatchObject({ leasesLost: 1, fencedWrites: 1, behindAnswers: 0 });
});

test("a write that comes after a fact from outside is a behind answer, and no loss", async () => {
  const { clerk, finish } = gated();
  finish();
  const store = firstCommit((inner) => async (asked) => {
    const { scope, run } = asked;
    await inner.post({ scope, run, key: "k", fact: { type: "cancel-requested", by: "ana" } });
    return inner.commit(asked);
  });
  await using runtime = await createRuntime({ agents: [clerk], store, logger: silentLogger });
  const run = await runtime.start(clerk, "go");
  expect((await run.result()).outcome).toBe("cancelled");
  expect(await runtime.metrics()).toMatchObject({ leasesLost: 0, fencedWrites: 0, behindAnswers: 1 });
});

test("a closed runtime has no metrics", async () => {
  const runtime = await createRuntime();
  await runtime.close();
  await expect(runtime.metrics()).rejects.toMatchObject({ code: "runtime-closed" });
});
