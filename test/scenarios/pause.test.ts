import { expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../src/index.ts";
import { aModelThat, anAgentWith, callsTool, callsTools, given, says } from "../../src/testing/story.ts";
import { aGate, aMoment } from "./moments.ts";
import { onEveryStore } from "./stores.ts";

const nothing = z.object({});

onEveryStore((freshStore) => {
  test("a pause lets what is in flight end, begins nothing new, and is released over a restart", async () => {
    const gate = aGate();
    const work = tool({
      name: "work",
      description: "Works",
      input: nothing,
      effect: "pure",
      execute: () => gate.opened.then(() => "worked"),
    });
    const model = aModelThat(callsTool("work"), says("Done."));
    await using story = await given(anAgentWith(work), model, { store: freshStore() });
    const run = await story.userSays("work");
    await aMoment();
    await run.pause({ by: "ana", reason: "lunch" });
    await aMoment();
    expect((await run.status()).status).toBe("running");
    gate.open();
    const ticket = await story.expectWaitingFor(run, "pause");
    expect(ticket.prompt).toBe("Paused by ana: lunch");
    expect(await story.results(run)).toEqual([{ kind: "value", value: "worked" }]);
    expect(story.modelSaw).toHaveLength(1);
    await story.restart();
    await story.pass("1d");
    expect(story.modelSaw).toHaveLength(1);
    const again = await story.expectWaitingFor(run, "pause");
    expect(await again.release({ by: "ana" })).toMatchObject({ mine: true, by: "ana" });
    await story.expectReply(run, "Done.");
  });

  test("a paused run does not run a call that is approved meanwhile, until it is released", async () => {
    const ask = tool({ name: "ask", description: "Asks", input: nothing, needsApproval: true, execute: () => "ran" });
    const model = aModelThat(callsTool("ask"), says("Done."));
    await using story = await given(anAgentWith(ask), model, { store: freshStore() });
    const run = await story.userSays("ask");
    await story.expectWaitingFor(run, "ask");
    await run.pause();
    await story.t.settle();
    const pause = await story.expectWaitingFor(run, "pause");
    await story.approve(run, "ask");
    await story.t.settle();
    expect(story.effects(ask)).toEqual([]);
    expect((await run.status()).status).toBe("waiting");
    await pause.release();
    await story.expectReply(run, "Done.");
    expect(story.effects(ask)).toHaveLength(1);
  });

  test("a pause asked for twice is one pause, and a run can be paused again after its release", async () => {
    const ask = tool({ name: "ask", description: "Asks", input: nothing });
    const model = aModelThat(callsTools(["ask", {}], ["ask", {}]), says("Done."));
    await using story = await given(anAgentWith(ask), model, { store: freshStore() });
    const run = await story.userSays("ask");
    await story.expectWaitingFor(run, "ask");
    await Promise.all([run.pause({ by: "ana" }), run.pause({ by: "ben" })]);
    await story.t.settle();
    const first = await story.expectWaitingFor(run, "pause");
    await first.release();
    await story.t.settle();
    expect((await run.status()).waiting?.reasons).toEqual(["input"]);
    await run.pause();
    await story.t.settle();
    const second = await story.expectWaitingFor(run, "pause");
    expect(second.id).not.toBe(first.id);
    expect(await first.release()).toMatchObject({ mine: false });
    await second.cancelRun({ by: "ana" });
    await story.expectOutcome(run, "cancelled");
    expect(await story.results(run)).toMatchObject([{ code: "not-run" }, { code: "not-run" }]);
  });

  test("a run paused before it starts waits before its first model call", async () => {
    const ask = tool({ name: "ask", description: "Asks", input: nothing });
    const model = aModelThat(({ messages }) => (messages.length === 1 ? callsTool("ask") : says("Done.")));
    await using story = await given(anAgentWith(ask), model, { store: freshStore() });
    const first = await story.userSays("first", { thread: "t" });
    const second = await story.userSays("second", { thread: "t", whenBusy: "queue" });
    await story.expectWaitingFor(first, "ask");
    await second.pause();
    await (await first.cancel()).receipt();
    const ticket = await story.expectWaitingFor(second, "pause");
    expect(story.modelSaw).toHaveLength(1);
    await ticket.release();
    await story.expectReply(second, "Done.");
  });

  test("a pause of an ended run is harmless, and of an unknown one is refused by name", async () => {
    await using story = await given(anAgentWith(), aModelThat(says("Done.")), { store: freshStore() });
    const run = await story.userSays("hi");
    await story.expectReply(run, "Done.");
    const before = await story.journal(run);
    await run.pause();
    expect(await story.journal(run)).toEqual(before);
    await expect(story.t.runtime.runs.get("nobody").pause()).rejects.toMatchObject({ code: "run-not-found" });
  });
});
