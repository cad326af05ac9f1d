import { expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../src/index.ts";
import { aModelThat, anAgentWith, callsTools, given, resultsOf, says } from "../../src/testing/story.ts";
import { aGate, aMoment } from "./moments.ts";
import { onEveryStore } from "./stores.ts";

const numbered = z.object({ n: z.number() });
const calls = (name: string, count: number) => Array.from({ length: count }, (_, n) => [name, { n }] as const);

onEveryStore((freshStore) => {
  test("calls of a step run in parallel by default, and the model reads their results in call order", async () => {
    const gates = Array.from({ length: 5 }, () => aGate());
    let most = 0;
    let running = 0;
    const wait = tool({
      name: "wait",
      description: "Waits",
      input: numbered,
      effect: "pure",
      execute: async ({ n }) => {
        running += 1;
        most = Math.max(most, running);
        await gates[n]?.opened;
        running -= 1;
        return n;
      },
    });
    const model = aModelThat(callsTools(...calls("wait", 5)), says("Done."));
    await using story = await given(anAgentWith(wait), model, { store: freshStore() });
    const run = await story.userSays("wait");
    await aMoment();
    expect(most).toBe(5);
    for (const n of [3, 0, 4, 2, 1]) {
      gates[n]?.open();
      await aMoment();
    }
    await story.expectReply(run, "Done.");
    const values = (results: readonly { kind: string }[]) => results.map((r) => ("value" in r ? r.value : r));
    expect(values(await story.results(run))).toEqual([3, 0, 4, 2, 1]);
    expect(values(story.modelSaw[1]?.messages.flatMap(resultsOf) ?? [])).toEqual([0, 1, 2, 3, 4]);
  });

  test("transcript order is by call index also above nine calls and after a restart", async () => {
    const answer = tool({ name: "answer", description: "A question", input: numbered });
    const model = aModelThat(callsTools(...calls("answer", 12)), says("Done."));
    await using story = await given(anAgentWith(answer), model, { store: freshStore() });
    const run = await story.userSays("answer");
    await story.expectWaitingFor(run, "answer");
    const tickets = await story.t.runtime.tickets.list({ tool: answer, status: "open" });
    for (const ticket of tickets.toReversed()) {
      if (ticket.kind !== "input") throw new Error("not an input ticket");
      if (ticket.input.n === 6) await story.restart();
      const { id, hash, input } = ticket;
      await story.t.runtime.tickets.decide(id, { kind: "answer", value: input.n, hash });
    }
    await story.expectReply(run, "Done.");
    const seen = story.modelSaw.at(-1)?.messages.flatMap(resultsOf) ?? [];
    expect(seen.map((result) => (result.kind === "value" ? result.value : result))).toEqual([...Array(12).keys()]);
  });

  for (const concurrency of [1, 2, 3]) {
    test(`a tool's concurrency of ${concurrency} is never exceeded, always used, and does not hold its neighbours`, async () => {
      const gates = Array.from({ length: 7 }, () => aGate());
      let running = 0;
      const observed: number[] = [];
      const narrow = tool({
        name: "narrow",
        description: "A narrow door",
        input: numbered,
        effect: "idempotent",
        concurrency,
        execute: async ({ n }) => {
          running += 1;
          observed.push(running);
          await gates[n]?.opened;
          running -= 1;
          return n;
        },
      });
      const wide = tool({
        name: "wide",
        description: "A wide door",
        input: numbered,
        effect: "pure",
        execute: () => "w",
      });
      const model = aModelThat(callsTools(...calls("narrow", 7), ["wide", { n: 0 }]), says("Done."));
      await using story = await given(anAgentWith(narrow, wide), model, { store: freshStore() });
      const run = await story.userSays("go");
      await aMoment();
      expect(running).toBe(concurrency);
      expect(story.effects(wide)).toHaveLength(1);
      for (const gate of gates) {
        gate.open();
        await aMoment();
      }
      await story.expectReply(run, "Done.");
      expect(Math.max(...observed)).toBe(concurrency);
      expect(story.effects(narrow).map(({ input }) => input)).toEqual([...Array(7).keys()].map((n) => ({ n })));
    });
  }

  test("two calls of one step each have their own key, call id and result", async () => {
    const echo = tool({
      name: "echo",
      description: "Says who it is",
      input: numbered,
      effect: "pure",
      execute: ({ n }, { callId, idempotencyKey, step, attempt, runId, threadId, fence, now }) => ({
        n,
        callId,
        idempotencyKey,
        step,
        attempt,
        runId,
        threadId,
        fence,
        now: now(),
      }),
    });
    const model = aModelThat(callsTools(["echo", { n: 1 }], ["echo", { n: 1 }]), says("Done."));
    await using story = await given(anAgentWith(echo), model, { store: freshStore() });
    const run = await story.userSays("echo", { thread: "t-1" });
    await story.expectReply(run, "Done.");
    const same = { n: 1, step: 1, attempt: 1, runId: run.id, threadId: "t-1", fence: 1, now: story.t.clock.now() };
    expect(await story.results(run)).toMatchObject([
      { value: { ...same, callId: `${run.id}.1.0` } },
      { value: { ...same, callId: `${run.id}.1.1` } },
    ]);
    expect(new Set(story.effects(echo).map(({ key }) => key)).size).toBe(2);
  });
});
