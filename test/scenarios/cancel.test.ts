import { expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { aModelThat, anAgentWith, callsTool, callsTools, given, says } from "../../src/testing/story.ts";
import { aMoment, never, untilAborted } from "./moments.ts";
import { onEveryStore } from "./stores.ts";

const nothing = z.object({});

const cooperative = tool({
  name: "cooperative",
  description: "Stops when it is told to",
  input: nothing,
  effect: "pure",
  execute: (_input, { signal }) => untilAborted(signal),
});
const careful = tool({
  name: "careful",
  description: "Stops when it is told to, but may have acted",
  input: nothing,
  execute: (_input, { signal }) => untilAborted(signal),
});

onEveryStore((freshStore) => {
  test("R-014 cancel of an unknown run is refused and names it", async () => {
    await using story = await given(anAgentWith(), aModelThat(says("Hi.")), { store: freshStore() });
    await expect(story.t.runtime.runs.get("nobody").cancel()).rejects.toMatchObject({
      code: "run-not-found",
      details: { run: "nobody" },
    });
  });

  test("a queued run is cancelled without ever starting, and the thread goes on", async () => {
    const ask = tool({ name: "ask", description: "Asks", input: nothing });
    const model = aModelThat((request) => (request.messages.length === 1 ? callsTool("ask") : says("Next.")));
    await using story = await given(anAgentWith(ask), model, { store: freshStore() });
    const first = await story.userSays("first", { thread: "t" });
    // Said outright: once the first waits for its answer, a message would be that.
    const second = await story.userSays("second", { thread: "t", whenBusy: "queue" });
    const third = await story.userSays("third", { thread: "t", whenBusy: "queue" });
    await story.expectWaitingFor(first, "ask");
    expect((await second.status()).status).toBe("created");
    const { receipt } = await second.cancel({ by: "ana", reason: "changed my mind" });
    expect(await receipt()).toMatchObject({ outcome: "cancelled", reason: "changed my mind", steps: 0 });
    const types = (await story.journal(second)).map((entry) => entry.type);
    expect(types).toEqual(["run-created", "cancel-requested", "run-ended"]);
    expect((await third.status()).status).toBe("created");
    await (await first.cancel()).receipt();
    expect((await story.expectOutcome(third, "completed")).output).toBe("Next.");
  });

  test("a run whose model is in flight is cancelled as soon as the model stops", async () => {
    const slow = scripted([{ text: "late", delayMs: 1_000 }], { sleep: (_ms, signal) => untilAborted(signal) });
    await using story = await given(anAgentWith(), { model: slow, saw: [] }, { store: freshStore() });
    const run = await story.userSays("hi");
    await aMoment();
    const { receipt } = await run.cancel({ reason: "stop" });
    expect(await receipt()).toMatchObject({ outcome: "cancelled", reason: "stop" });
    const settled = (await story.journal(run)).filter((entry) => entry.type === "effect-settled");
    expect(settled.map(({ result }) => result.kind)).toEqual(["aborted"]);
  });

  test("a run whose model is deaf is cancelled after the grace", async () => {
    const deaf = scripted([{ text: "late", delayMs: 1_000 }], { sleep: never });
    await using story = await given(anAgentWith(), { model: deaf, saw: [] }, { store: freshStore() });
    const run = await story.userSays("hi");
    await aMoment();
    const { receipt } = await run.cancel();
    await story.pass("4s");
    expect((await run.status()).status).toBe("running");
    await story.pass("1s");
    expect(await receipt()).toMatchObject({ outcome: "cancelled" });
  });

  test("a cooperative tool is aborted: a harmless one has an aborted result, a once one an unknown one without a ticket", async () => {
    const model = aModelThat(callsTools(["cooperative", {}], ["careful", {}]), says("never"));
    await using story = await given(anAgentWith(cooperative, careful), model, { store: freshStore() });
    const run = await story.userSays("go");
    await aMoment();
    await (await run.cancel()).receipt();
    expect(await story.results(run)).toMatchObject([
      { kind: "error", code: "aborted" },
      { kind: "error", code: "outcome-unknown" },
    ]);
    expect(await story.t.runtime.tickets.list({ run: run.id })).toEqual([]);
    expect(story.modelSaw).toHaveLength(1);
  });

  test("a deaf tool is given up after the grace, and its late result is evidence that changes nothing", async () => {
    let finish: (value: string) => void = () => undefined;
    const deaf = tool({
      name: "deaf",
      description: "Does not listen",
      input: nothing,
      execute: () =>
        new Promise<string>((resolve) => {
          finish = resolve;
        }),
    });
    await using story = await given(anAgentWith(deaf), aModelThat(callsTool("deaf")), { store: freshStore() });
    const run = await story.userSays("go");
    await aMoment();
    const { receipt } = await run.cancel();
    await story.pass("6s");
    expect(await receipt()).toMatchObject({ outcome: "cancelled" });
    expect(await story.results(run)).toMatchObject([{ kind: "error", code: "outcome-unknown" }]);
    const before = await story.journal(run);
    expect(before.at(-1)?.type).toBe("run-ended");
    finish("it happened after all");
    await aMoment();
    expect(await story.journal(run)).toEqual(before);
    expect(await story.evidence(run)).toMatchObject([
      { kind: "late-result", body: { settled: { kind: "done" }, result: { value: "it happened after all" } } },
    ]);
  });

  test("a waiting run is cancelled: its ticket closes by the engine, its call has one result, and a late answer learns it", async () => {
    const ask = tool({ name: "ask", description: "Asks", input: nothing, needsApproval: true, execute: () => "ran" });
    await using story = await given(anAgentWith(ask), aModelThat(callsTool("ask")), { store: freshStore() });
    const run = await story.userSays("go");
    const ticket = await story.expectWaitingFor(run, "approval");
    await story.restart();
    await (await run.cancel({ by: "ana" })).receipt();
    expect(await story.results(run)).toMatchObject([{ kind: "error", code: "not-run" }]);
    const late = await story.t.runtime.tickets.decide(ticket.id, { kind: "approve", hash: ticket.hash });
    expect(late).toMatchObject({ mine: false, by: "engine", decision: { kind: "closed", why: "cancelled" } });
    expect(await story.evidence(run)).toMatchObject([
      { kind: "late-decision", body: { ticket: ticket.id, decision: { kind: "approve" } } },
    ]);
    expect(story.effects(ask)).toEqual([]);
  });

  test("R-016 cancel again is harmless, also after the end, and the first reason stays", async () => {
    const ask = tool({ name: "ask", description: "Asks", input: nothing });
    await using story = await given(anAgentWith(ask), aModelThat(callsTool("ask")), { store: freshStore() });
    const run = await story.userSays("go");
    await story.expectWaitingFor(run, "ask");
    const receipts = await Promise.all([1, 2, 3].map((n) => run.cancel({ reason: `reason ${n}` })));
    const ends = await Promise.all(receipts.map(({ receipt }) => receipt()));
    expect(new Set(ends.map((end) => JSON.stringify(end))).size).toBe(1);
    const before = await story.journal(run);
    expect(before.filter((entry) => entry.type === "cancel-requested")).toHaveLength(1);
    const again = await run.cancel({ reason: "again" });
    expect(await again.receipt()).toEqual(ends[0]);
    expect(await story.journal(run)).toEqual(before);
  });

  test("cancel after a natural end changes nothing and its receipt says how the run really ended", async () => {
    await using story = await given(anAgentWith(), aModelThat(says("Done.")), { store: freshStore() });
    const run = await story.userSays("go");
    await story.expectReply(run, "Done.");
    const before = await story.journal(run);
    expect(await (await run.cancel()).receipt()).toMatchObject({ outcome: "completed", output: "Done." });
    expect(await story.journal(run)).toEqual(before);
  });

  test("a cancel asked for while no process lives is done by the next one", async () => {
    await using story = await given(anAgentWith(careful), aModelThat(callsTool("careful")), { store: freshStore() });
    const run = await story.userSays("go");
    await aMoment();
    const { receipt } = await run.cancel();
    story.t.process.kill();
    await story.restart();
    expect(await story.expectOutcome(run, "cancelled")).toBeDefined();
    expect(await story.results(run)).toMatchObject([{ kind: "error", code: "outcome-unknown" }]);
    expect(receipt).toBeTypeOf("function");
  });

  test("XA-21 an approval and a cancel at once: the run is cancelled, whichever came first, and runs the tool at most once", async () => {
    for (const first of ["approve", "cancel"] as const) {
      const ask = tool({ name: "ask", description: "Asks", input: nothing, needsApproval: true, execute: () => "ran" });
      await using story = await given(anAgentWith(ask), aModelThat(callsTool("ask"), says("Done.")), {
        store: freshStore(),
      });
      const run = await story.userSays("go");
      const ticket = await story.expectWaitingFor(run, "approval");
      const acts = { approve: () => ticket.approve(), cancel: () => run.cancel() };
      await Promise.all(first === "approve" ? [acts.approve(), acts.cancel()] : [acts.cancel(), acts.approve()]);
      await story.expectOutcome(run, "cancelled");
      expect(story.effects(ask).length).toBeLessThanOrEqual(1);
      expect(await story.results(run)).toHaveLength(1);
    }
  });
});
