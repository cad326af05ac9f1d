/** The cancel tree: whoever ends asks those below to end, waits for them, and says what became of each. */
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { agent, delegate, memory, policy, tool } from "../../src/index.ts";
import { scripted, type TestRuntime, testRuntime } from "../../src/testing.ts";
import { above, helper, resultOf, runsOf, tasks } from "./family.ts";

const asks = { calls: [{ tool: "pay", input: { to: "Ada" } }] };

async function statuses(t: TestRuntime): Promise<readonly string[]> {
  const { items } = await t.runtime.runs.list({ order: "oldest" });
  const views = await Promise.all(items.map(({ run }) => t.runtime.runs.get(run).status()));
  return views.map(({ agent: name, status, outcome }) => `${name} ${outcome?.kind ?? status}`);
}

test("C7 three levels: each run has one end, no ticket is left, and the receipt names all below", async () => {
  const lead = above(above(helper(asks, "ok"), { name: "middle" }));
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  await run.idle();
  const cancelled = await run.cancel({ by: "ana", reason: "enough" });
  const receipt = await cancelled.receipt();
  expect(receipt.outcome).toBe("cancelled");
  const [, middle, deep] = await runsOf(t);
  const stopped = [
    { run: middle?.run, agent: "middle", how: "stopped" },
    { run: deep?.run, agent: "helper", how: "stopped" },
  ];
  expect(receipt.descendants).toEqual(stopped);
  expect(await statuses(t)).toEqual(["lead cancelled", "middle cancelled", "helper cancelled"]);
  expect(await t.runtime.tickets.list({ root: run.id, status: "open" })).toEqual([]);
  const again = await (await run.cancel({ by: "bob" })).receipt();
  expect(again).toEqual(receipt);
  expect(await t.runtime.runs.get(deep?.run as string).status()).toMatchObject({ outcome: { reason: "enough" } });
});

test("a child that ends first is said to have, and one that will not stop is too", async () => {
  let release = (): void => undefined;
  let isCalled = false;
  const deaf = tool({
    name: "deaf",
    description: "Hears nothing",
    input: z.object({}),
    effect: "idempotent",
    execute: () => {
      isCalled = true;
      return new Promise((resolve) => {
        release = () => resolve("late");
      });
    },
  });
  const stubborn = agent({
    name: "stubborn",
    model: scripted([{ calls: [{ tool: "deaf" }] }, "ok"]),
    instructions: "",
    tools: [deaf],
  });
  const lead = agent({
    name: "lead",
    model: scripted([tasks("stubborn"), "done"]),
    instructions: "Delegate.",
    delegates: [delegate(stubborn)],
  });
  await using t = await testRuntime({ agents: [lead], settings: { limits: { graceMs: 1_000 } } });
  const run = await t.runtime.start(lead, "Go");
  await vi.waitFor(() => expect(isCalled).toBe(true));
  const cancelled = await run.cancel();
  await t.clock.advance(900);
  expect((await run.status()).status).toBe("waiting"); // without a lease, until those below have ended
  await t.clock.advance(10_000);
  const receipt = await cancelled.receipt();
  // Its own grace is over before its parent's is: it ends without its tool.
  expect(receipt.descendants).toMatchObject([{ agent: "stubborn", how: "stopped" }]);
  release();
});

test("C7 a child whose process is gone does not hold its parent for ever, and is asked all the same", async () => {
  const child = helper(asks, "ok");
  const lead = above(child);
  const store = memory();
  await using t = await testRuntime({ agents: [lead], store, settings: { limits: { graceMs: 1_000 } } });
  const run = await t.runtime.start(lead, "Go");
  await run.idle();
  const [, below] = await runsOf(t);
  await using other = await testRuntime({ agents: [], store });
  await t.runtime.close();
  const handle = other.runtime.runs.get(run.id);
  await handle.cancel({ by: "ana" });
  // Only the parent's code is here: its child is not claimed by anybody.
  const alone = { ...lead, delegates: [] };
  await using worker = await testRuntime({ agents: [alone], store, settings: { limits: { graceMs: 1_000 } } });
  await worker.advance("1m");
  const receipt = await (await worker.runtime.runs.get(run.id).cancel()).receipt();
  expect(receipt).toMatchObject({ outcome: "cancelled", descendants: [{ run: below?.run, how: "would-not-stop" }] });
  expect(await worker.runtime.runs.get(below?.run as string).status()).toMatchObject({ cancelRequested: true });
  await using back = await testRuntime({ agents: [lead], store });
  await back.settle();
  expect(await back.runtime.runs.get(below?.run as string).result()).toMatchObject({ outcome: "cancelled" });
  expect((await (await back.runtime.runs.get(run.id).cancel()).receipt()).descendants).toEqual(receipt.descendants);
});

test("the process dies between the request and the children's end: the receipt is the same", async () => {
  const lead = above(above(helper(asks, "ok"), { name: "middle" }));
  for (const cut of [1, 2, 3, 4, 5, 6, 7, 8]) {
    let left = Number.POSITIVE_INFINITY;
    let kill = (): void => undefined;
    await using t = await testRuntime({
      agents: [lead],
      intercept: async (call, proceed) => {
        const isWrite = call.method === "commit" || call.method === "post" || call.method === "endDelivery";
        if (isWrite) left -= 1;
        if (left === 0) kill();
        return proceed();
      },
    });
    const run = await t.runtime.start(lead, "Go");
    await run.idle();
    await run.cancel({ by: "ana" });
    left = cut;
    kill = () => t.process.kill();
    await t.settle();
    left = Number.POSITIVE_INFINITY;
    await t.restart();
    await t.advance("2m");
    const receipt = await (await t.runtime.runs.get(run.id).cancel()).receipt();
    expect(receipt.descendants.map(({ agent: name, how }) => `${name} ${how}`)).toEqual([
      "middle stopped",
      "helper stopped",
    ]);
    expect(await statuses(t)).toEqual(["lead cancelled", "middle cancelled", "helper cancelled"]);
  }
});

test("C7 a run that its policy stops while its child is at work ends its child too", async () => {
  const house = policy({
    name: "house",
    "tool-call": ({ call }) => (call.tool === "last" ? { deny: "over", stop: true } : "allow"),
  });
  const last = tool({ name: "last", description: "Last", input: z.object({}), execute: () => "x" });
  const lead = agent({
    name: "lead",
    model: scripted([{ calls: [{ tool: "helper", input: { task: "x" } }, { tool: "last" }] }, "done"]),
    instructions: "",
    tools: [last],
    policy: house,
    delegates: [delegate(helper(asks, "ok"))],
  });
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  await t.settle();
  await t.advance("1m");
  expect(await run.result()).toMatchObject({ outcome: "blocked" });
  const [, below] = await statuses(t);
  expect(below ?? "none was born").toMatch(/helper cancelled|none was born/);
});

test("a child that somebody cancels gives its parent an error, and the parent goes on", async () => {
  const lead = above(helper(asks, "ok"));
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  await run.idle();
  const [, below] = await runsOf(t);
  await t.runtime.runs.get(below?.run as string).cancel({ reason: "not this" });
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  expect(await resultOf(t, `${run.id}.1.0`)).toEqual({
    kind: "error",
    code: "delegate-failed",
    message: "helper was cancelled: not this",
  });
});
