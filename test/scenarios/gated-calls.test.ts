/** Three parallel gated calls, every combination of four answers, in every order, live and over restarts. */
import { expect, test } from "vitest";
import { z } from "zod";
import type { RunId } from "../../src/domain/ids.ts";
import { tool } from "../../src/index.ts";
import type { ApprovalTicket } from "../../src/runtime/runtime.ts";
import {
  aModelThat,
  anAgentWith,
  callsTools,
  given,
  resultsOf,
  type Story,
  type StoryOptions,
  says,
} from "../../src/testing/story.ts";
import { onEveryStore } from "./stores.ts";

const answers = ["approve", "edit", "reject", "answer"] as const;
type Answer = (typeof answers)[number];
type Combination = readonly [Answer, Answer, Answer];

const combinations: readonly Combination[] = answers.flatMap((a) =>
  answers.flatMap((b) => answers.map((c): Combination => [a, b, c])),
);
const orders = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
] as const;

const send = tool({
  name: "send",
  description: "Sends to a slot",
  input: z.object({ slot: z.number(), text: z.string() }),
  needsApproval: true,
  execute: ({ slot, text }) => ({ sent: text, slot }),
});

function decideOne(ticket: ApprovalTicket<{ slot: number; text: string }>, answer: Answer): Promise<unknown> {
  const { slot } = ticket.input;
  switch (answer) {
    case "approve":
      return ticket.approve();
    case "edit":
      return ticket.edit({ slot, text: `edited ${slot}` });
    case "reject":
      return ticket.reject(`no ${slot}`);
    default:
      return ticket.answer({ sent: `answered ${slot}`, slot });
  }
}

function expectedResult(answer: Answer, slot: number): object {
  switch (answer) {
    case "approve":
      return { kind: "value", value: { sent: `raw ${slot}`, slot } };
    case "edit":
      return { kind: "value", value: { sent: `edited ${slot}`, slot } };
    case "reject":
      return { kind: "error", code: "rejected", message: `no ${slot}` };
    default:
      return { kind: "value", value: { sent: `answered ${slot}`, slot } };
  }
}

/** One run per combination, all at once, each on a thread of its own: so a restart cuts all of them. */
async function aRunPerCombination(options: StoryOptions): Promise<{
  story: Story;
  runs: readonly { id: RunId; combination: Combination }[];
}> {
  const calls = [0, 1, 2].map((slot) => ["send", { slot, text: `raw ${slot}` }] as const);
  const model = aModelThat(callsTools(...calls), says("Done."));
  const story = await given(anAgentWith(send), model, options);
  const runs = await Promise.all(
    combinations.map(async (combination) => ({ id: (await story.userSays("send all")).id, combination })),
  );
  for (const run of runs) await story.expectWaitingFor(run, "send");
  return { story, runs };
}

async function ticketOf(
  story: Story,
  id: RunId,
  slot: number,
): Promise<ApprovalTicket<{ slot: number; text: string }>> {
  const tickets = await story.t.runtime.tickets.list({ tool: send, run: id, status: "open" });
  const ticket = tickets.find(({ input }) => input.slot === slot);
  if (ticket?.kind !== "approval") throw new Error(`run ${id} has no open approval for slot ${slot}`);
  return ticket;
}

async function expectIndependent(story: Story, run: { id: RunId; combination: Combination }): Promise<void> {
  const { id, combination } = run;
  await story.expectReply(run, "Done.");
  const expected = combination.map(expectedResult);
  // Exactly one result per call in the journal, in whatever order they settled …
  const stored = await story.results(run);
  expect(stored).toHaveLength(3);
  expect(stored).toEqual(expect.arrayContaining(expected));
  // … and in the order of the calls for the model.
  const seen = story.modelSaw.filter(
    ({ step, messages }) => step === 2 && messages.some((m) => m.id.startsWith(`${id}.`)),
  );
  expect(seen[0]?.messages.flatMap(resultsOf)).toEqual(expected);
  const ran = story.effects(send).filter(({ call }) => call.startsWith(`${id}.`));
  const shouldRun = combination.flatMap((answer, slot) => {
    if (answer === "approve") return [{ slot, text: `raw ${slot}` }];
    return answer === "edit" ? [{ slot, text: `edited ${slot}` }] : [];
  });
  expect(ran.map(({ input }) => input)).toHaveLength(shouldRun.length);
  expect(ran.map(({ input }) => input)).toEqual(expect.arrayContaining(shouldRun));
  expect(new Set(ran.map(({ key }) => key)).size).toBe(ran.length);
}

onEveryStore((freshStore) => {
  test("all 64 combinations, decided in one go, are independent", async () => {
    const { story, runs } = await aRunPerCombination({ store: freshStore() });
    await using _ = story;
    const decisions = runs.flatMap(({ id, combination }) =>
      combination.map(async (answer, slot) => decideOne(await ticketOf(story, id, slot), answer)),
    );
    await Promise.all(decisions);
    for (const run of runs) await expectIndependent(story, run);
  });

  test("all 64 combinations, decided in one go after a restart, are independent", async () => {
    const { story, runs } = await aRunPerCombination({ store: freshStore() });
    await using _ = story;
    await story.restart();
    await Promise.all(
      runs.flatMap(({ id, combination }) =>
        combination.map(async (answer, slot) => decideOne(await ticketOf(story, id, slot), answer)),
      ),
    );
    for (const run of runs) await expectIndependent(story, run);
  });

  for (const order of orders) {
    test(`all 64 combinations, decided one by one as ${order.join(", ")}, are independent`, async () => {
      const { story, runs } = await aRunPerCombination({ store: freshStore() });
      await using _ = story;
      for (const slot of order) {
        for (const { id, combination } of runs) await decideOne(await ticketOf(story, id, slot), combination[slot]);
        await story.t.settle();
      }
      for (const run of runs) await expectIndependent(story, run);
    });

    test(`all 64 combinations, decided one by one as ${order.join(", ")} with a restart between, are independent`, async () => {
      const { story, runs } = await aRunPerCombination({ store: freshStore() });
      await using _ = story;
      for (const slot of order) {
        await story.restart();
        for (const { id, combination } of runs) await decideOne(await ticketOf(story, id, slot), combination[slot]);
        await story.t.settle();
      }
      for (const run of runs) await expectIndependent(story, run);
    });
  }

  test("a decided call runs while its neighbours still wait", async () => {
    const { story, runs } = await aRunPerCombination({ store: freshStore() });
    await using _ = story;
    const [run] = runs;
    if (!run) throw new Error("no run");
    await decideOne(await ticketOf(story, run.id, 1), "approve");
    await story.t.settle();
    expect(story.effects(send)).toHaveLength(1);
    expect(await story.results(run)).toEqual([expectedResult("approve", 1)]);
    const waiting = await story.t.runtime.runs.get(run.id).idle();
    expect(waiting.status === "waiting" && waiting.tickets).toHaveLength(2);
  });
});
