import { expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../src/index.ts";
import {
  aModelThat,
  anAgentWith,
  callsTool,
  callsTools,
  given,
  resultsOf,
  type Story,
  type StoryOptions,
  says,
} from "../../src/testing/story.ts";
import { aMoment, never } from "./moments.ts";
import { onEveryStore } from "./stores.ts";

const order = z.object({ order: z.number() });

/** Throws the first time, after it may have acted. */
function aShakyCharge(): ReturnType<typeof tool<typeof order, string>> {
  let calls = 0;
  return tool({
    name: "charge",
    description: "Charges a card",
    input: order,
    execute: () => {
      calls += 1;
      if (calls === 1) throw new Error("socket closed");
      return "charged";
    },
  });
}

async function aRunOfUnknownOutcome(
  options: StoryOptions,
): Promise<{ story: Story; charge: ReturnType<typeof aShakyCharge> }> {
  const charge = aShakyCharge();
  const model = aModelThat(callsTool("charge", { order: 1 }), says("Done."));
  return { story: await given(anAgentWith(charge), model, options), charge };
}

onEveryStore((freshStore) => {
  test("any throw of a once tool but ToolFailure leaves one ticket, and the model is not asked meanwhile", async () => {
    const { story, charge } = await aRunOfUnknownOutcome({ store: freshStore() });
    await using _ = story;
    const run = await story.userSays("charge");
    const ticket = await story.expectWaitingFor(run, "unknown-outcome");
    expect(ticket.prompt).toContain("it threw: socket closed");
    expect(ticket.input).toEqual({ order: 1 });
    expect(await story.t.runtime.tickets.list({ run: run.id })).toHaveLength(1);
    expect(await story.results(run)).toEqual([]);
    expect(story.modelSaw).toHaveLength(1);
    expect(story.effects(charge)).toHaveLength(1);
  });

  test("mark-done gives the result and the code does not run again", async () => {
    const { story, charge } = await aRunOfUnknownOutcome({ store: freshStore() });
    await using _ = story;
    const run = await story.userSays("charge");
    await (await story.expectWaitingFor(run, "unknown-outcome")).markDone("charged at the bank", { by: "ops" });
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toEqual([{ kind: "value", value: "charged at the bank" }]);
    expect(story.effects(charge)).toHaveLength(1);
  });

  test("mark-failed gives an error that the model reads", async () => {
    const { story, charge } = await aRunOfUnknownOutcome({ store: freshStore() });
    await using _ = story;
    const run = await story.userSays("charge");
    await (await story.expectWaitingFor(run, "unknown-outcome")).markFailed("the bank has nothing");
    await story.expectReply(run, "Done.");
    const failed = [{ kind: "error", code: "marked-failed", message: "the bank has nothing" }];
    expect(await story.results(run)).toEqual(failed);
    expect(story.modelSaw[1]?.messages.flatMap(resultsOf)).toEqual(failed);
    expect(story.effects(charge)).toHaveLength(1);
  });

  test("run-again runs the code once more, with a new key", async () => {
    const { story, charge } = await aRunOfUnknownOutcome({ store: freshStore() });
    await using _ = story;
    const run = await story.userSays("charge");
    await (await story.expectWaitingFor(run, "unknown-outcome")).runAgain();
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toEqual([{ kind: "value", value: "charged" }]);
    const [first, second, ...more] = story.effects(charge);
    expect(more).toEqual([]);
    expect(second?.key).not.toBe(first?.key);
    expect(second?.call).toBe(first?.call);
  });

  test("cancel-run ends the run as cancelled, with one result that says the outcome is unknown", async () => {
    const { story, charge } = await aRunOfUnknownOutcome({ store: freshStore() });
    await using _ = story;
    const run = await story.userSays("charge");
    await (await story.expectWaitingFor(run, "unknown-outcome")).cancelRun({ by: "ops" });
    await story.expectOutcome(run, "cancelled");
    expect(await story.results(run)).toMatchObject([{ kind: "error", code: "outcome-unknown" }]);
    expect(story.effects(charge)).toHaveLength(1);
    expect((await story.t.runtime.tickets.list({ run: run.id }))[0]?.settlement).toMatchObject({
      by: "ops",
      decision: { kind: "cancel-run" },
    });
  });

  test("an unknown from a settled attempt is decidable at once, from a lost one only after startBy and timeout", async () => {
    const { story } = await aRunOfUnknownOutcome({ store: freshStore() });
    await using _ = story;
    const thrown = await story.userSays("charge");
    const settled = await story.expectWaitingFor(thrown, "unknown-outcome");
    expect(settled.decidableFrom).toBe(story.t.clock.now());

    const hangs = tool({
      name: "hangs",
      description: "Hangs",
      input: order,
      timeoutMs: 120_000,
      execute: never,
    });
    const model = aModelThat(callsTool("hangs", { order: 1 }), says("Done."));
    await using lost = await given(anAgentWith(hangs), model, { store: freshStore() });
    const run = await lost.userSays("hang");
    await aMoment();
    const begun = lost.t.clock.now();
    await lost.restart();
    const ticket = await lost.expectWaitingFor(run, "unknown-outcome");
    // The lease of 30 s less a sixth, then the tool's own timeout.
    expect(ticket.decidableFrom).toBe(begun + 25_000 + 120_000);
    await expect(ticket.markDone("early")).rejects.toMatchObject({
      code: "ticket-not-decidable",
      retry: "later",
      details: { decidableFrom: ticket.decidableFrom },
    });
    await lost.pass((ticket.decidableFrom ?? 0) - lost.t.clock.now() - 1);
    await expect(ticket.runAgain()).rejects.toMatchObject({ code: "ticket-not-decidable" });
    await lost.pass(1);
    expect(await ticket.markDone("it was done")).toMatchObject({ mine: true });
    await lost.expectReply(run, "Done.");
    expect(lost.effects(hangs)).toHaveLength(1);
  });

  test("a timeout of a once tool is unknown, decidable once no attempt can be running", async () => {
    const hangs = tool({ name: "hangs", description: "Hangs", input: order, timeoutMs: 10_000, execute: never });
    const model = aModelThat(callsTool("hangs", { order: 1 }), says("Done."));
    await using story = await given(anAgentWith(hangs), model, { store: freshStore() });
    const run = await story.userSays("hang");
    await aMoment();
    const begun = story.t.clock.now();
    await story.pass("10s");
    const ticket = await story.expectWaitingFor(run, "unknown-outcome");
    expect(ticket.prompt).toContain("did not end within 10000 ms");
    expect(ticket.decidableFrom).toBe(begun + 25_000 + 10_000);
  });

  test("while a call is unknown, the same tool with the same input is refused, and with another input it runs", async () => {
    const charge = tool({
      name: "charge",
      description: "Charges a card",
      input: z.object({ order: z.number(), note: z.string().optional() }),
      onUnknown: "tell-model",
      execute: ({ order: number }) => {
        if (number === 1) throw new Error("socket closed");
        return `charged ${number}`;
      },
    });
    const model = aModelThat(
      callsTool("charge", { order: 1, note: "x" }),
      callsTools(["charge", { note: "x", order: 1 }], ["charge", { order: 2 }]),
      says("Done."),
    );
    await using story = await given(anAgentWith(charge), model, { store: freshStore() });
    const run = await story.userSays("charge");
    await story.expectReply(run, "Done.");
    const [first, again, other] = await story.results(run).then((results) => [...results].sort(byCode));
    expect(first).toMatchObject({ code: "outcome-unknown", message: expect.stringContaining("do not repeat") });
    expect(again).toMatchObject({ code: "outcome-unknown", message: expect.stringContaining("same input") });
    expect(other).toEqual({ kind: "value", value: "charged 2" });
    expect(story.effects(charge).map(({ input }) => input)).toEqual([{ order: 1, note: "x" }, { order: 2 }]);
  });

  test("once an operator has said how it ended, the same input may run again", async () => {
    const charge = aShakyCharge();
    const model = aModelThat(callsTool("charge", { order: 1 }), callsTool("charge", { order: 1 }), says("Done."));
    await using story = await given(anAgentWith(charge), model, { store: freshStore() });
    const run = await story.userSays("charge");
    await (await story.expectWaitingFor(run, "unknown-outcome")).markFailed("nothing happened");
    await story.expectReply(run, "Done.");
    expect(story.effects(charge)).toHaveLength(2);
    expect((await story.results(run))[1]).toEqual({ kind: "value", value: "charged" });
  });

  test("onUnknown tell-model: no ticket, the model reads that it may have happened, over a restart too", async () => {
    const hangs = tool({
      name: "hangs",
      description: "Hangs",
      input: order,
      onUnknown: "tell-model",
      execute: never,
    });
    const model = aModelThat(callsTool("hangs", { order: 1 }), says("Done."));
    await using story = await given(anAgentWith(hangs), model, { store: freshStore() });
    const run = await story.userSays("hang");
    await aMoment();
    await story.restart();
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toMatchObject([{ kind: "error", code: "outcome-unknown" }]);
    expect(await story.t.runtime.tickets.list({ run: run.id })).toEqual([]);
    expect(story.effects(hangs)).toHaveLength(1);
  });
});

function byCode(a: { kind: string; message?: string }, b: { kind: string; message?: string }): number {
  const rank = (each: { kind: string; message?: string }): number =>
    each.kind === "value" ? 2 : each.message?.includes("same input") ? 1 : 0;
  return rank(a) - rank(b);
}
