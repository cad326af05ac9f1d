/** When a run starts, and before which others: start times, deadlines of runs that never had their turn, priority, queues. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { aModelThat, anAgentWith, callsTool, given, type Story, says } from "../../src/testing/story.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";
import { aMoment } from "./moments.ts";
import { onEveryStore } from "./stores.ts";

const nothing = z.object({});
const ask = tool({ name: "ask", description: "Asks", input: nothing, needsApproval: true, execute: () => "ran" });
const brief = { ...anAgentWith(ask), budget: { wallTime: 60_000 } };
const done = (): ReturnType<typeof aModelThat> => aModelThat(says("Done."));

/** The first words of each request that the model saw. */
function said({ modelSaw }: Story): readonly string[] {
  return modelSaw.map(({ messages }) => JSON.stringify(messages.at(-1)).match(/"text":"([^"]*)"/)?.[1] ?? "");
}

onEveryStore((freshStore) => {
  test("a run with a start time is there at once, and starts at that time and not before", async () => {
    await using story = await given(anAgentWith(), done(), { store: freshStore() });
    const startAt = story.t.clock.now() + 3_600_000;
    const run = await story.userSays("later", { startAt, key: "k" });
    expect(await run.status()).toMatchObject({ status: "created", mode: "scheduled" });
    await story.pass(3_599_999);
    expect(story.modelSaw).toHaveLength(0);
    expect((await story.userSays("later", { startAt: startAt + 5, key: "k" })).id).toBe(run.id);
    await story.pass(1);
    await story.expectReply(run, "Done.");
    const [created, started] = await story.journal(run);
    expect(created).toMatchObject({ type: "run-created", startAt });
    expect(started).toMatchObject({ type: "run-started", at: startAt });
  });

  test("a run with a start time starts also when no process lived at that time", async () => {
    const store = freshStore();
    await using story = await given(anAgentWith(), done(), { store });
    const run = await story.userSays("later", { startAt: story.t.clock.now() + 1_000 });
    await story.restart();
    await story.expectReply(run, "Done.");
  });

  test("a run can be cancelled before its start time, and what was sent to it does not start it", async () => {
    await using story = await given(anAgentWith(), done(), { store: freshStore() });
    const run = await story.userSays("later", { startAt: story.t.clock.now() + 3_600_000 });
    await run.send("and this");
    await story.pass("1m");
    expect((await run.status()).status).toBe("created");
    await run.cancel({ reason: "no" });
    await story.expectOutcome(run, "cancelled");
    expect((await story.journal(run)).at(-1)).toMatchObject({ type: "run-ended", unread: [expect.any(String)] });
    expect(story.modelSaw).toHaveLength(0);
  });

  test("a run with a start time holds its thread: the next one waits behind it", async () => {
    await using story = await given(anAgentWith(), done(), { store: freshStore() });
    const later = await story.userSays("later", { thread: "t", startAt: story.t.clock.now() + 60_000 });
    const next = await story.userSays("next", { thread: "t" });
    await story.pass(59_999);
    expect((await next.status()).status).toBe("created");
    await story.pass(1);
    await story.expectReply(next, "Done.");
    await story.expectReply(later, "Done.");
    expect(said(story)).toEqual(["later", "next"]);
  });

  test("the wall time of a run with a start time counts from that time", async () => {
    await using story = await given(brief, aModelThat(callsTool("ask")), { store: freshStore() });
    const startAt = story.t.clock.now() + 3_600_000;
    const run = await story.userSays("later", { startAt });
    await story.pass("1h");
    const ticket = await story.expectWaitingFor(run, "approval");
    expect(ticket.expiresAt).toBe(startAt + 60_000);
  });

  test("a queued run ends at its deadline though it never had its turn, and the queue goes on without it", async () => {
    const holder = agent({
      ...anAgentWith(ask),
      name: "holder",
      model: scripted([{ calls: [{ tool: "ask" }] }, "Held."]),
    });
    const hasty = agent({ ...brief, name: "hasty", model: scripted(["Never."]) });
    await using t = await testRuntime({ agents: [holder, hasty], store: freshStore() });
    const thread = { thread: "t", whenBusy: "queue" } as const;
    const first = await t.runtime.start(holder, "hold", thread);
    const queued = await t.runtime.start(hasty, "quick", thread);
    const last = await t.runtime.start(holder, "last", thread);
    await queued.send("quicker");
    await t.advance(59_999);
    expect((await queued.status()).status).toBe("created");
    await t.advance(1);
    expect(await queued.result()).toMatchObject({ outcome: "timed-out", steps: 0 });
    const end = await queued.terminalEvent();
    expect(end).toMatchObject({ unread: [expect.any(String)], at: t.clock.now() });
    expect(end).not.toHaveProperty("successor");
    for (const run of [first, last]) {
      await t.settle();
      const [ticket] = await t.runtime.tickets.list({ run: run.id, tool: ask, status: "open" });
      if (ticket?.kind === "approval") await ticket.approve();
      expect(await run.result()).toMatchObject({ outcome: "completed" });
    }
  });

  test("of runs that wait for a place the higher priority is taken first, then the older one", async () => {
    const settings = { concurrency: 1 };
    await using story = await given(anAgentWith(), done(), { store: freshStore(), settings });
    const startAt = story.t.clock.now() + 1_000;
    await Promise.all([
      story.userSays("low", { priority: -1, startAt }),
      story.userSays("first", { startAt }),
      story.userSays("second", { startAt }),
      story.userSays("high", { priority: 2, startAt }),
    ]);
    await story.pass(1_000);
    await aMoment();
    expect(said(story)).toEqual(["high", "first", "second", "low"]);
  });

  test("a thread with a long queue does not hold up the others: each of its runs goes to the back of the line", async () => {
    const settings = { concurrency: 1 };
    await using story = await given(anAgentWith(), done(), { store: freshStore(), settings });
    const startAt = story.t.clock.now() + 1_000;
    const queued = Array.from({ length: 20 }, (_, n) => story.userSays(`long ${n}`, { thread: "long", startAt }));
    const others = ["a", "b", "c"].map((name) => story.userSays(name, { startAt: startAt + 1 }));
    const runs = await Promise.all([...queued, ...others]);
    await story.restart(); // when the next process comes, all of them are due
    for (const run of runs) await story.expectReply(run, "Done.");
    const order = said(story);
    expect(order.slice(0, 4)).toEqual(["long 0", "a", "b", "c"]);
    expect(order.slice(4)).toEqual(Array.from({ length: 19 }, (_, n) => `long ${n + 1}`));
  });

  test("a run that reads what another left unread keeps its priority", async () => {
    const model = aModelThat(callsTool("ask"), says("Done."));
    await using story = await given(brief, model, { store: freshStore() });
    const run = await story.userSays("go", { priority: 1 });
    await story.expectWaitingFor(run, "approval");
    await run.send("one more thing");
    await story.pass(60_000);
    await story.expectOutcome(run, "timed-out");
    const end = (await story.journal(run)).at(-1);
    const successor = end?.type === "run-ended" ? end.successor : undefined;
    expect((await story.journal({ id: successor! }))[0]).toMatchObject({ type: "run-created", priority: 1 });
  });
});
