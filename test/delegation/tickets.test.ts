/** What is asked below is found and answered at the root. */
import { expect, test, vi } from "vitest";
import { testRuntime } from "../../src/testing.ts";
import { above, helper, pay, runsOf } from "./family.ts";

const asks = { calls: [{ tool: "pay", input: { to: "Ada" } }] };

test("a ticket two levels down is listed at the root with its path, and answered there", async () => {
  const lead = above(above(helper(asks, "ok"), { name: "middle" }));
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  const idle = await run.idle();
  const [root, middle] = await runsOf(t);
  const [ticket] = await t.runtime.tickets.list({ root: run.id, tool: pay, kind: "approval", status: "open" });
  expect(ticket).toMatchObject({
    agent: "helper",
    rootRun: run.id,
    path: [
      { run: root?.run, agent: "lead", call: `${run.id}.1.0`, delegate: "middle" },
      { run: middle?.run, agent: "middle", call: `${middle?.run}.1.0`, delegate: "helper" },
    ],
  });
  expect(idle).toMatchObject({ status: "waiting", tickets: [{ id: ticket?.id }] });
  await t.restart();
  const [same] = await t.runtime.tickets.list({ root: run.id, tool: pay, kind: "approval", status: "open" });
  await same?.approve({ by: "ana" });
  expect(await t.runtime.runs.get(run.id).result()).toMatchObject({ outcome: "completed" });
  expect(t.effects(pay)).toHaveLength(1);
});

test("nobody can decide a child ticket but the end of its run", async () => {
  const lead = above(helper(asks, "ok"));
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  await run.idle();
  const [ticket] = await t.runtime.tickets.list({ run: run.id, kind: "child", status: "open" });
  expect(ticket).toMatchObject({ kind: "child", child: { agent: "helper" } });
  for (const kind of ["approve", "answer", "cancel-run", "child-ended"]) {
    const answer = { kind, value: 1, hash: ticket?.hash } as never;
    await expect(t.runtime.tickets.decide(ticket?.id as string, answer)).rejects.toMatchObject({
      code: "invalid-decision",
    });
  }
});

test("a run whose child is at work is not idle", async () => {
  const lead = above(helper({ text: "slow", delayMs: 300 }));
  await using t = await testRuntime({ agents: [lead] });
  const run = await t.runtime.start(lead, "Go");
  let isIdle = false;
  const idle = run.idle().then((resting) => {
    isIdle = true;
    return resting;
  });
  await vi.waitFor(async () => expect((await run.status()).status).toBe("waiting"));
  expect((await run.status()).waiting?.reasons).toEqual(["child"]);
  expect(isIdle).toBe(false);
  expect(await idle).toMatchObject({ status: "done" });
});
