import { expect, test } from "vitest";
import type { ScriptedAnswer } from "../../src/providers/scripted.ts";
import { aModelThat, anAgentWith, given, type Story, says } from "../../src/testing/story.ts";
import { aMoment } from "./moments.ts";
import { onEveryStore } from "./stores.ts";

const overloaded: ScriptedAnswer = { error: "model-overloaded" };

function failuresIn(journal: Awaited<ReturnType<Story["journal"]>>): readonly (number | undefined)[] {
  return journal.flatMap((entry) =>
    entry.type === "effect-settled" && entry.result.kind === "failed"
      ? [entry.result.retryAt === undefined ? undefined : entry.result.retryAt - entry.at]
      : [],
  );
}

onEveryStore((freshStore) => {
  test("a model error of class later is tried again after a growing backoff", async () => {
    const model = aModelThat({ attempts: [overloaded, overloaded, says("Third time.")] });
    await using story = await given(anAgentWith(), model, { store: freshStore() });
    const run = await story.userSays("hi");
    await aMoment();
    expect(story.modelSaw).toHaveLength(1);
    await story.pass("10s");
    await story.expectReply(run, "Third time.");
    expect(story.modelSaw.map(({ attempt, step }) => [step, attempt])).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
    ]);
    const [first, second] = failuresIn(await story.journal(run));
    expect(first).toBeGreaterThanOrEqual(250);
    expect(first).toBeLessThanOrEqual(500);
    expect(second).toBeGreaterThanOrEqual(500);
    expect(second).toBeLessThanOrEqual(1_000);
  });

  test("a model error of class never fails the run at once", async () => {
    const model = aModelThat({ attempts: [{ error: "model-refused", message: "bad key" }, says("no")] });
    await using story = await given(anAgentWith(), model, { store: freshStore() });
    const run = await story.userSays("hi");
    const end = await story.expectOutcome(run, "failed");
    expect(end).toMatchObject({ retry: "never", error: { code: "model-refused", message: "bad key" } });
    expect(story.modelSaw).toHaveLength(1);
  });

  test("attempts are bounded: after five failures the run fails with the last error", async () => {
    const model = aModelThat({ attempts: [overloaded] });
    await using story = await given(anAgentWith(), model, { store: freshStore() });
    const run = await story.userSays("hi");
    await story.pass("2m");
    const end = await story.expectOutcome(run, "failed");
    expect(end).toMatchObject({ retry: "later", error: { code: "model-overloaded" } });
    expect(story.modelSaw).toHaveLength(5);
    expect(failuresIn(await story.journal(run)).at(-1)).toBeUndefined();
  });

  test("the bound is an option", async () => {
    const model = aModelThat({ attempts: [overloaded] });
    const settings = { limits: { modelAttempts: 2 } };
    await using story = await given(anAgentWith(), model, { store: freshStore(), settings });
    const run = await story.userSays("hi");
    await story.pass("2m");
    await story.expectOutcome(run, "failed");
    expect(story.modelSaw).toHaveLength(2);
  });

  test("a provider that asks for a longer wait gets it, up to a minute", async () => {
    const asking = (retryAfterMs: number): ScriptedAnswer => ({ error: "model-rate-limited", retryAfterMs });
    const model = aModelThat({ attempts: [asking(1_500), asking(3_600_000), says("Done.")] });
    await using story = await given(anAgentWith(), model, { store: freshStore() });
    const run = await story.userSays("hi");
    await aMoment();
    await story.pass(1_499);
    expect(story.modelSaw).toHaveLength(1);
    await story.pass(251);
    expect(story.modelSaw).toHaveLength(2);
    const [first = 0, second = 0] = failuresIn(await story.journal(run));
    expect(first).toBeGreaterThanOrEqual(1_500);
    expect(first).toBeLessThanOrEqual(1_750);
    expect(second).toBeGreaterThanOrEqual(60_000);
    expect(second).toBeLessThanOrEqual(60_500);
    await story.pass("61s");
    await story.expectReply(run, "Done.");
  });

  test("a long backoff gives the lease back: the run waits on a timer, over a restart, and goes on by itself", async () => {
    const model = aModelThat({ attempts: [{ error: "model-rate-limited", retryAfterMs: 50_000 }, says("Done.")] });
    await using story = await given(anAgentWith(), model, { store: freshStore() });
    const run = await story.userSays("hi");
    const ticket = await story.expectWaitingFor(run, "timer");
    expect(ticket.dueAt).toBeGreaterThanOrEqual(story.t.clock.now() + 50_000);
    expect(ticket.dueAt).toBeLessThanOrEqual(story.t.clock.now() + 50_250);
    expect((await run.status()).waiting?.reasons).toEqual(["timer"]);
    await story.restart();
    expect(story.modelSaw).toHaveLength(1);
    await story.pass("30s");
    await story.expectReply(run, "Done.");
    const decided = (await story.journal(run)).filter((entry) => entry.type === "ticket-decided");
    expect(decided).toMatchObject([{ ticket: ticket.id, by: "engine", decision: { kind: "elapsed" } }]);
    expect((await story.t.runtime.tickets.list({ run: run.id }))[0]?.settlement?.by).toBe("engine");
  });

  test("runs that were told the same time do not all come back at once, and each at its own time again", async () => {
    const model = aModelThat({ attempts: [{ error: "model-rate-limited", retryAfterMs: 5_000 }, says("Done.")] });
    const waits = async (): Promise<readonly unknown[]> => {
      await using story = await given(anAgentWith(), model, { store: freshStore() });
      const runs = await Promise.all(Array.from({ length: 8 }, () => story.userSays("hi")));
      await story.pass("6s");
      for (const run of runs) await story.expectReply(run, "Done.");
      return Promise.all(runs.map(async (run) => failuresIn(await story.journal(run))[0]));
    };
    const first = await waits();
    expect(new Set(first).size).toBeGreaterThan(5);
    expect(await waits()).toEqual(first);
  });

  test("an attempt that would come after the run's deadline is not waited for", async () => {
    const model = aModelThat({ attempts: [{ error: "model-rate-limited", retryAfterMs: 30_000 }, says("Done.")] });
    const teller = { ...anAgentWith(), budget: { wallTime: 30_000 } };
    await using story = await given(teller, model, { store: freshStore() });
    const run = await story.userSays("hi");
    const end = await story.expectOutcome(run, "failed");
    expect(end).toMatchObject({ retry: "later", error: { code: "model-rate-limited" } });
    expect(failuresIn(await story.journal(run))).toEqual([undefined]);
  });

  test("one that comes before the deadline is made", async () => {
    const model = aModelThat({ attempts: [{ error: "model-rate-limited", retryAfterMs: 29_000 }, says("Done.")] });
    const teller = { ...anAgentWith(), budget: { wallTime: 30_000 } };
    await using story = await given(teller, model, { store: freshStore() });
    const run = await story.userSays("hi");
    await story.pass("29500ms");
    await story.expectReply(run, "Done.");
  });

  test("attempts lost with their process do not count as failures", async () => {
    const dies: ScriptedAnswer = () => {
      story.t.process.kill();
      return says("nobody hears this");
    };
    const failing = [overloaded, overloaded, overloaded, overloaded];
    const model = aModelThat({ attempts: [dies, dies, dies, ...failing, says("Done.")] });
    await using story = await given(anAgentWith(), model, { store: freshStore() });
    const run = await story.userSays("hi");
    await aMoment();
    for (let count = 0; count < 3; count += 1) await story.restart();
    await story.pass("2m");
    await story.expectReply(run, "Done.");
    const settled = (await story.journal(run)).flatMap((e) => (e.type === "effect-settled" ? [e.result.kind] : []));
    expect(settled).toEqual(["lost", "lost", "lost", "failed", "failed", "failed", "failed", "done"]);
  });

  test("a model's end by length stops the run, by content filter blocks it, by error fails it", async () => {
    const expected = {
      length: { outcome: "stopped", code: "length" },
      "content-filter": { outcome: "blocked", reason: "content-filter" },
      error: { outcome: "failed", error: { code: "model-failed" } },
    } as const;
    for (const [finish, end] of Object.entries(expected)) {
      const model = aModelThat({ text: "half", finish: finish as keyof typeof expected });
      await using story = await given(anAgentWith(), model, { store: freshStore() });
      const run = await story.userSays("hi");
      expect(await story.expectOutcome(run, end.outcome)).toMatchObject(end);
    }
  });
});
