/** S1: what would exceed a limit is not begun. */
import { expect, test } from "vitest";
import { plugin } from "../../../src/index.ts";
import type { StopConditionsOptions } from "../../../src/plugins.ts";
import { aModelThat, given, type Story } from "../../../src/testing/story.ts";
import { anAgentThatStops, endOf, play, steps, stoppedBy } from "./stories.ts";

test("as many steps as the limit says are made, and the next one is not paid for", async () => {
  const { result, modelCalls, journal } = await play({ steps: 3 }, steps(3));
  expect(result).toMatchObject(stoppedBy("steps", "3 steps were made, the limit is 3"));
  expect(modelCalls).toBe(3);
  expect(journal.filter(({ type }) => type === "step-started")).toHaveLength(3);
});

test("a run that ends by itself within the limit is completed", async () => {
  const { result, modelCalls } = await play({ steps: 4 }, steps(3));
  expect(result).toMatchObject({ outcome: "completed", output: "Done." });
  expect(modelCalls).toBe(4);
});

test("one step is enough for a run that needs one, and too few for one that needs two", async () => {
  expect((await play({ steps: 1 }, steps(0))).result.outcome).toBe("completed");
  expect(await play({ steps: 1 }, steps(1))).toMatchObject({ result: { code: "steps" }, modelCalls: 1 });
});

const spending = [
  { calls: [{ tool: "look", input: { at: 1 } }], inputTokens: 60, outputTokens: 10 },
  { calls: [{ tool: "look", input: { at: 2 } }], inputTokens: 20, outputTokens: 10 },
  "Done.",
];

test("no step begins once input and output tokens have reached the limit", async () => {
  const { result, modelCalls } = await play({ tokens: 100 }, spending);
  expect(result).toMatchObject(stoppedBy("tokens", "100 tokens were used, the limit is 100"));
  expect(modelCalls).toBe(2);
});

test("one token below the limit the run goes on", async () => {
  const { result, modelCalls } = await play({ tokens: 101 }, spending);
  expect(result.outcome).toBe("completed");
  expect(modelCalls).toBe(3);
});

test("a step that goes far beyond the tokens is the last one, and says how far", async () => {
  const { result, modelCalls } = await play({ tokens: 1 }, spending);
  expect(result).toMatchObject(stoppedBy("tokens", "70 tokens were used, the limit is 1"));
  expect(modelCalls).toBe(1);
});

/** A run that waits for a person in its first step, for so long. */
async function waiting(ms: number, options: StopConditionsOptions): Promise<Awaited<ReturnType<typeof endOf>>> {
  await using story = await given(anAgentThatStops(options), aModelThat(...steps(1, "ask")));
  const run = await story.userSays("Go.");
  await story.expectWaitingFor(run, "ask");
  await story.pass(ms - (await sinceStart(story, run)));
  await story.approve(run, "ask");
  return await endOf(story, run);
}

async function sinceStart(story: Story, run: Parameters<Story["journal"]>[0]): Promise<number> {
  const started = (await story.journal(run)).find(({ type }) => type === "run-started");
  return story.t.clock.now() - (started?.at ?? 0);
}

test("no step begins once so much time has passed, and waiting for people counts", async () => {
  const { result, modelCalls, journal } = await waiting(60_000, { wallTimeMs: 60_000 });
  const detail = "60000 ms have passed since the run began, the limit is 60000 ms";
  expect(result).toMatchObject(stoppedBy("wall-time", detail));
  expect(modelCalls).toBe(1);
  expect(journal.filter(({ type }) => type === "step-started")).toHaveLength(1);
});

test("a millisecond before the time is up the next step begins", async () => {
  const { result, modelCalls } = await waiting(59_999, { wallTimeMs: 60_000 });
  expect(result).toMatchObject({ outcome: "completed", output: "Done." });
  expect(modelCalls).toBe(2);
});

test("without the option a run may wait longer", async () => {
  expect(await waiting(600_000, {})).toMatchObject({ result: { outcome: "completed" }, modelCalls: 2 });
});

test("what a person approved before the time was up is still done, only no step follows it", async () => {
  const { journal } = await waiting(60_000, { wallTimeMs: 60_000 });
  const made = journal.filter((entry) => entry.type === "effect-settled" && entry.result.kind === "done");
  expect(made).toHaveLength(2); // the model call and the tool
});

const questioner = plugin({
  name: "questioner",
  create: () => ({
    hooks: {
      "before-step": ({ step }) => (step === 2 ? { type: "open-ticket", name: "more", prompt: "Go on?" } : undefined),
    },
  }),
});

test.each([
  { ms: 59_999, outcome: "completed", modelCalls: 2 },
  { ms: 60_000, outcome: "stopped", modelCalls: 1 },
])("the time until an answer to another plugin's question counts: $ms ms", async ({ ms, outcome, modelCalls }) => {
  await using story = await given(anAgentThatStops({ wallTimeMs: 60_000 }, questioner()), aModelThat(...steps(1)));
  const run = await story.userSays("Go.");
  const ticket = await story.expectWaitingFor(run, "input");
  await story.pass(ms - (await sinceStart(story, run)));
  await ticket.answer("yes");
  const end = await endOf(story, run);
  expect(end.result.outcome).toBe(outcome);
  expect(end.modelCalls).toBe(modelCalls);
});

test("a pause counts as time", async () => {
  await using story = await given(anAgentThatStops({ wallTimeMs: 1_000 }), aModelThat(...steps(1, "ask")));
  const run = await story.userSays("Go.");
  await story.expectWaitingFor(run, "ask");
  await run.pause({ by: "ana" });
  await story.approve(run, "ask");
  const ticket = await story.expectWaitingFor(run, "pause");
  await story.pass(1_000);
  await ticket.release({ by: "ana" });
  expect((await endOf(story, run)).result).toMatchObject({ outcome: "stopped", code: "wall-time" });
});
