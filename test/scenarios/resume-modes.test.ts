import { expect, test } from "vitest";
import { z } from "zod";
import { tellModel, tool } from "../../src/index.ts";
import { aModelThat, anAgentWith, callsTool, given, resultsOf, says } from "../../src/testing/story.ts";
import { onEveryStore } from "./stores.ts";

const question = z.object({ question: z.string() });

onEveryStore((freshStore) => {
  test("replay: an approved call runs its code, with the decision in its context", async () => {
    const replayed = tool({
      name: "replayed",
      description: "Runs after its approval",
      input: question,
      needsApproval: true,
      resume: "replay",
      execute: ({ question: text }, { decision }) => ({ ran: text, by: decision?.by ?? null }),
    });
    const model = aModelThat(callsTool("replayed", { question: "go?" }), says("Done."));
    await using story = await given(anAgentWith(replayed), model, { store: freshStore() });
    const run = await story.userSays("go");
    await story.approve(run, "replayed", { by: "ana" });
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toEqual([{ kind: "value", value: { ran: "go?", by: "ana" } }]);
  });

  test("XA-37 use-decision-as-result: a tool without code is a question, and its answer is the result", async () => {
    const askUser = tool({ name: "ask-user", description: "Asks the user", input: question });
    const model = aModelThat(callsTool("ask-user", { question: "colour?" }), says("Blue it is."));
    await using story = await given(anAgentWith(askUser), model, { store: freshStore() });
    const run = await story.userSays("paint");
    const ticket = await story.expectWaitingFor(run, "input");
    expect(ticket.call.resume).toBe("use-decision-as-result");
    expect(ticket.input).toEqual({ question: "colour?" });
    await story.restart();
    await story.answer(run, "ask-user", { colour: "blue" });
    await story.expectReply(run, "Blue it is.");
    expect(await story.results(run)).toEqual([{ kind: "value", value: { colour: "blue" } }]);
    expect((await story.journal(run)).some((e) => e.type === "effect-intended" && e.kind === "tool")).toBe(false);
  });

  test("pass-decision-to-tool: the answer is handed to the code, whose result is the result", async () => {
    const quote = tool({
      name: "quote",
      description: "Quotes an answer",
      input: question,
      resume: "pass-decision-to-tool",
      execute: (_input, { decision }) => {
        if (decision?.decision.kind !== "answer") throw new Error("no answer came");
        return { quoted: decision.decision.value, by: decision.by };
      },
    });
    const model = aModelThat(callsTool("quote", { question: "who?" }), says("Done."));
    await using story = await given(anAgentWith(quote), model, { store: freshStore() });
    const run = await story.userSays("ask");
    const ticket = await story.expectWaitingFor(run, "input");
    await story.restart();
    await story.t.runtime.tickets.decide(ticket.id, {
      kind: "answer",
      value: { name: "Ada" },
      hash: ticket.hash,
      by: "ben",
    });
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toEqual([{ kind: "value", value: { quoted: { name: "Ada" }, by: "ben" } }]);
    expect(story.effects(quote)).toHaveLength(1);
  });

  test("pass-decision-to-tool on an approval: approve, answer and reject each reach the right place", async () => {
    const judge = tool({
      name: "judge",
      description: "Says what was decided",
      input: question,
      needsApproval: true,
      resume: "pass-decision-to-tool",
      execute: (_input, { decision }) => ({ saw: decision?.decision ?? null }),
    });
    const model = aModelThat(callsTool("judge", { question: "?" }), says("Done."));
    await using story = await given(anAgentWith(judge), model, { store: freshStore() });
    const [approved, answered, rejected] = await Promise.all([1, 2, 3].map(() => story.userSays("judge")));
    if (!approved || !answered || !rejected) throw new Error("no runs");
    const ticket = await story.expectWaitingFor(approved, "approval");
    await ticket.approve({ value: { note: "fine" } });
    await story.answer(answered, "judge", 7);
    await story.reject(rejected, "judge", "no");
    for (const run of [approved, answered, rejected]) await story.expectReply(run, "Done.");
    expect(await story.results(approved)).toEqual([
      { kind: "value", value: { saw: { kind: "approve", value: { note: "fine" } } } },
    ]);
    expect(await story.results(answered)).toEqual([{ kind: "value", value: { saw: { kind: "answer", value: 7 } } }]);
    expect(await story.results(rejected)).toEqual([{ kind: "error", code: "rejected", message: "no" }]);
    expect(story.effects(judge)).toHaveLength(2);
  });

  test("an edit that only the code's schema refuses opens a new ticket that names the problem", async () => {
    const even = tool({
      name: "even",
      description: "Takes even numbers",
      input: z.object({ n: z.number().refine((n) => n % 2 === 0, "must be even") }),
      needsApproval: true,
      execute: ({ n }) => n,
    });
    const model = aModelThat(callsTool("even", { n: 2 }), says("Done."));
    await using story = await given(anAgentWith(even), model, { store: freshStore() });
    const run = await story.userSays("even");
    const first = await story.expectWaitingFor(run, "approval");
    expect((await first.edit({ n: 3 })).mine).toBe(true);
    await story.t.settle();
    const second = await story.expectWaitingFor(run, "approval");
    expect(second.id).not.toBe(first.id);
    expect(second.problem).toMatch(/\$\.n: must be even/);
    expect(second.input).toEqual({ n: 2 });
    expect(await first.approve()).toMatchObject({ mine: false, decision: { kind: "edit" } });
    await second.edit({ n: 8 });
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toEqual([{ kind: "value", value: 8 }]);
    expect(story.effects(even).map(({ input }) => input)).toEqual([{ n: 8 }]);
  });

  test("execute gets the schema's output, while journal and ticket hold the raw input", async () => {
    const shout = tool({
      name: "shout",
      description: "Shouts",
      input: z.object({ text: z.string().transform((text) => text.toUpperCase()), times: z.number().default(2) }),
      needsApproval: ({ times }) => times === 2,
      execute: ({ text, times }) => text.repeat(times),
    });
    const model = aModelThat(callsTool("shout", { text: "ha" }), says("Done."));
    await using story = await given(anAgentWith(shout), model, { store: freshStore() });
    const run = await story.userSays("shout");
    const ticket = await story.expectWaitingFor(run, "approval");
    expect(ticket.input).toEqual({ text: "ha" });
    await ticket.approve();
    await story.expectReply(run, "Done.");
    expect(await story.results(run)).toEqual([{ kind: "value", value: "HAHA" }]);
  });

  test("LB-032 a result can hold data for the program and other words for the model", async () => {
    const count = tool({
      name: "count",
      description: "Counts",
      input: z.object({}),
      effect: "pure",
      execute: () => tellModel({ rows: [1, 2, 3] }, "three rows"),
    });
    const model = aModelThat(callsTool("count"), says("Done."));
    await using story = await given(anAgentWith(count), model, { store: freshStore() });
    const run = await story.userSays("count");
    await story.expectReply(run, "Done.");
    const told = { kind: "value", value: { rows: [1, 2, 3] }, say: "three rows" };
    expect(await story.results(run)).toEqual([told]);
    expect(story.modelSaw[1]?.messages.flatMap(resultsOf)).toEqual([told]);
  });

  test("XA-20 a decision may name the call instead of the ticket, and an unknown target is named", async () => {
    const askUser = tool({ name: "ask-user", description: "Asks the user", input: question });
    const model = aModelThat(callsTool("ask-user", { question: "?" }), says("Done."));
    await using story = await given(anAgentWith(askUser), model, { store: freshStore() });
    const run = await story.userSays("ask");
    const { call, hash } = await story.expectWaitingFor(run, "input");
    const { tickets } = story.t.runtime;
    await expect(tickets.decide("nobody.1.0", { kind: "answer", value: 1, hash })).rejects.toMatchObject({
      code: "ticket-not-found",
      message: expect.stringContaining("nobody.1.0"),
    });
    expect(await tickets.decide(call.id, { kind: "answer", value: 1, hash })).toMatchObject({ mine: true });
    await story.expectReply(run, "Done.");
  });
});
