import { expect, test } from "vitest";
import { z } from "zod";
import { createRuntime, tool } from "../../src/index.ts";
import { aModelThat, anAgentWith, callsTool, given, says } from "../../src/testing/story.ts";
import { aMoment, never } from "./moments.ts";
import { onEveryStore } from "./stores.ts";

const nothing = z.object({});
const look = tool({ name: "look", description: "Looks", input: nothing, effect: "pure", execute: () => "seen" });
const ask = tool({ name: "ask", description: "Asks", input: nothing, needsApproval: true, execute: () => "ran" });

onEveryStore((freshStore) => {
  for (const steps of [1, 2, 3]) {
    test(`a budget of ${steps} steps makes exactly ${steps} model calls, and the last one's calls still run`, async () => {
      const model = aModelThat(...Array.from({ length: 5 }, () => callsTool("look")));
      const teller = { ...anAgentWith(look), budget: { steps } };
      await using story = await given(teller, model, { store: freshStore() });
      const run = await story.userSays("look around");
      const end = await story.expectOutcome(run, "stopped");
      expect(end).toMatchObject({ code: "steps", steps });
      expect(end.detail).toContain(String(steps));
      expect(story.modelSaw).toHaveLength(steps);
      expect(story.effects(look)).toHaveLength(steps);
      expect(await story.results(run)).toHaveLength(steps);
    });

    test(`a run that needs exactly ${steps} steps is completed by a budget of ${steps}`, async () => {
      const model = aModelThat(...Array.from({ length: steps - 1 }, () => callsTool("look")), says("Done."));
      const teller = { ...anAgentWith(look), budget: { steps } };
      await using story = await given(teller, model, { store: freshStore() });
      await story.expectReply(await story.userSays("look around"), "Done.");
    });
  }

  test("LB-031 a scripted model that is asked for more than it has fails the run loudly", async () => {
    await using story = await given(anAgentWith(look), aModelThat(callsTool("look")), { store: freshStore() });
    const run = await story.userSays("look");
    const end = await story.expectOutcome(run, "failed");
    expect(end).toMatchObject({ retry: "never", error: { code: "script-exhausted" } });
    expect(end.error.message).toContain("step 2");
  });

  test("a deadline ends a run that waits, and an answer after it is refused as expired", async () => {
    const teller = { ...anAgentWith(ask), budget: { wallTime: 60_000 } };
    await using story = await given(teller, aModelThat(callsTool("ask")), { store: freshStore() });
    const run = await story.userSays("go");
    const ticket = await story.expectWaitingFor(run, "approval");
    expect(ticket.expiresAt).toBe(story.t.clock.now() + 60_000);
    await story.pass(59_999);
    expect((await run.status()).status).toBe("waiting");
    await story.pass(1);
    await story.expectOutcome(run, "timed-out");
    expect(await story.results(run)).toMatchObject([{ kind: "error", code: "not-run" }]);
    expect(await ticket.approve()).toMatchObject({ mine: false, by: "engine", decision: { why: "timed-out" } });
    expect(story.effects(ask)).toEqual([]);
  });

  test("an answer that comes after the deadline while no process lives is refused, and the run times out", async () => {
    const store = freshStore();
    const teller = { ...anAgentWith(ask), budget: { wallTime: 60_000 } };
    await using story = await given(teller, aModelThat(callsTool("ask")), { store });
    const run = await story.userSays("go");
    const ticket = await story.expectWaitingFor(run, "approval");
    story.t.process.kill();
    await story.t.clock.advance(60_000);
    await using web = await createRuntime({ store, clock: story.t.clock });
    const { id, hash } = ticket;
    await expect(web.tickets.decide(id, { kind: "approve", hash })).rejects.toMatchObject({ code: "ticket-expired" });
    await story.restart();
    await story.expectOutcome(run, "timed-out");
    expect(story.effects(ask)).toEqual([]);
  });

  test("a deadline ends a run in the middle of a tool: a cooperative one at once, a deaf one after the grace", async () => {
    for (const deaf of [false, true]) {
      const work = tool({
        name: "work",
        description: "Works",
        input: nothing,
        effect: "pure",
        execute: (_input, { signal }) =>
          deaf
            ? never()
            : new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      });
      const teller = { ...anAgentWith(work), budget: { wallTime: 10_000 } };
      await using story = await given(teller, aModelThat(callsTool("work")), { store: freshStore() });
      const run = await story.userSays("go");
      await aMoment();
      await story.pass(10_000);
      if (deaf) {
        expect((await run.status()).status).toBe("running");
        await story.pass(5_000);
      }
      await story.expectOutcome(run, "timed-out");
      expect(await story.results(run)).toMatchObject([{ kind: "error", code: "aborted" }]);
    }
  });

  test("a run whose deadline passes in the queue ends without ever starting", async () => {
    const teller = { ...anAgentWith(ask), budget: { wallTime: 60_000 } };
    await using story = await given(teller, aModelThat(callsTool("ask")), { store: freshStore() });
    const first = await story.userSays("first", { thread: "t" });
    const second = await story.userSays("second", { thread: "t", whenBusy: "queue" });
    await story.expectWaitingFor(first, "ask");
    await story.pass("1m");
    await story.expectOutcome(first, "timed-out");
    await story.expectOutcome(second, "timed-out");
    expect((await story.journal(second)).map(({ type }) => type)).toEqual(["run-created", "run-ended"]);
    expect(story.modelSaw).toHaveLength(1);
  });

  test("a run that ends in time is not touched by its deadline", async () => {
    const teller = { ...anAgentWith(), budget: { wallTime: 1_000 } };
    await using story = await given(teller, aModelThat(says("Done.")), { store: freshStore() });
    const run = await story.userSays("go");
    await story.expectReply(run, "Done.");
    const before = await story.journal(run);
    await story.pass("1m");
    expect(await story.journal(run)).toEqual(before);
  });
});
