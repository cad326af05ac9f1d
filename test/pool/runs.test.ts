/** Pools inside runs: what the journal says, and what the engine's own retry makes of a bad day. */
import { expect, test } from "vitest";
import type { Entry } from "../../src/domain/entry.ts";
import { HoldfastError } from "../../src/domain/errors.ts";
import type { ThreadId } from "../../src/domain/ids.ts";
import type { Model } from "../../src/ports/provider.ts";
import type { PoolOptions } from "../../src/providers/pool/options.ts";
import { pool } from "../../src/providers/pool/pool.ts";
import { type ScriptedAnswer, type ScriptedOptions, scripted } from "../../src/providers/scripted.ts";
import { anAgentWith, given, type Story } from "../../src/testing/story.ts";
import { aMoment } from "../scenarios/moments.ts";

const overloaded: ScriptedAnswer = { error: "model-overloaded" };

function modelNamed(name: string, answer: ScriptedAnswer, more: ScriptedOptions = {}): Model {
  return scripted(
    Array.from({ length: 9 }, () => answer),
    { name, ...more },
  );
}

/** The pool goes by the story's clock. */
function storyOf(members: Parameters<typeof pool>[0], options: PoolOptions = {}, budget = {}): Promise<Story> {
  const clock = { monotonic: () => story?.t.clock.monotonic() ?? 0 };
  let story: Story | undefined;
  const made = given({ ...anAgentWith(), budget }, { model: pool(members, { clock, ...options }), saw: [] });
  void made.then((open) => {
    story = open;
  });
  return made;
}

function settledIn(journal: readonly Entry[]): readonly unknown[] {
  return journal.flatMap((entry) =>
    entry.type === "effect-settled" ? [{ attempt: entry.attempt, ...entry.result }] : [],
  );
}

test("failover happens within one step and one attempt, and the journal names who answered", async () => {
  await using story = await storyOf([
    modelNamed("down", overloaded),
    { model: modelNamed("up", "Here I am."), failoverOnly: true },
  ]);
  const run = await story.userSays("hi");
  await story.expectReply(run, "Here I am.");
  expect(settledIn(await story.journal(run))).toMatchObject([
    { attempt: 1, kind: "done", answeredBy: { provider: "scripted", model: "up" } },
  ]);
});

test("after something was streamed the call fails, and the engine's retry lets another member go on from it", async () => {
  const dies: Model = {
    description: { provider: "scripted", model: "dies" },
    async *call() {
      yield { type: "text-delta", text: "Half an an" };
      throw new Error("connection reset");
    },
  };
  const goesOn = modelNamed("up", ({ continues }) => (continues === "Half an an" ? "swer." : "From the start."));
  const members = [dies, { model: goesOn, failoverOnly: true }];
  await using story = await storyOf(members, { breaker: { failures: 1 } });
  const run = await story.userSays("hi");
  await story.pass("1s");
  await story.expectReply(run, "Half an answer.");
  expect(settledIn(await story.journal(run))).toMatchObject([
    { attempt: 1, kind: "failed", error: { code: "model-failed" } },
    { attempt: 2, kind: "done", answeredBy: { model: "up" } },
  ]);
});

test("a member that hangs until the engine's timeout has failed; the retry goes to another one", async () => {
  const hangs: Model = {
    description: { provider: "scripted", model: "hangs" },
    async *call() {
      await new Promise(() => undefined);
    },
  };
  const members = [hangs, { model: modelNamed("up", "Here."), failoverOnly: true }];
  await using story = await storyOf(members, { breaker: { failures: 1 } });
  const run = await story.userSays("hi");
  await story.pass("301s");
  await story.expectReply(run, "Here.");
  expect(settledIn(await story.journal(run))).toMatchObject([
    { attempt: 1, kind: "failed", error: { code: "model-timeout" } },
    { attempt: 2, kind: "done", answeredBy: { model: "up" } },
  ]);
});

/** P6, with the breaker as it is unless said: it does not open within a step. */
const badHomes: Readonly<Record<string, readonly [Model["call"], string]>> = {
  hangs: [
    async function* () {
      await new Promise(() => undefined);
    },
    "model-timeout",
  ],
  "hangs in the middle": [
    async function* () {
      yield { type: "text-delta", text: "Here" };
      await new Promise(() => undefined);
    },
    "model-timeout",
  ],
  "ends its stream before its answer is whole": [
    async function* () {
      yield { type: "text-delta", text: "Here" };
    },
    "model-interrupted",
  ],
  "loses its connection in the middle": [
    async function* () {
      yield { type: "text-delta", text: "Here" };
      throw new HoldfastError("model-interrupted", "cut");
    },
    "model-interrupted",
  ],
  "answers with nothing": [
    async function* () {
      yield { type: "reasoning-delta", text: "Hm." };
      yield { type: "text-delta", text: " " };
      yield { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
    },
    "model-empty",
  ],
};

test.each(Object.entries(badHomes))(
  "P6 a home that %s: the second attempt of the step asks another member, which answers",
  async (_what, [call, code]) => {
    const home: Model = { description: { provider: "scripted", model: "home" }, call };
    const up = modelNamed("up", ({ continues }) => (continues === undefined ? "Here I am." : " I am."));
    await using story = await storyOf([home, { model: up, failoverOnly: true }]);
    const run = await story.userSays("hi");
    await story.pass("301s");
    await story.expectReply(run, "Here I am.");
    expect(settledIn(await story.journal(run))).toMatchObject([
      { attempt: 1, kind: "failed", error: { code } },
      { attempt: 2, kind: "done", answeredBy: { model: "up" } },
    ]);
  },
);

test("P6 answers with nothing in them open the breaker; the next step asks its home first until then", async () => {
  let asked = 0;
  const home: Model = {
    description: { provider: "scripted", model: "home" },
    async *call() {
      asked += 1;
      yield { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 0 } };
    },
  };
  const members = pool([home, { model: modelNamed("up", "Here."), failoverOnly: true }], { breaker: { failures: 3 } });
  await using story = await given(anAgentWith(), { model: members, saw: [] });
  for (const state of ["closed", "closed", "open", "open"]) {
    const run = await story.userSays("hi", { thread: "t" as ThreadId });
    await story.pass("2s");
    await story.expectReply(run, "Here.");
    expect(members.health()[0]?.state).toBe(state);
  }
  expect(asked).toBe(3);
});

test("a cancelled call says nothing about the member", async () => {
  const hangs = modelNamed("slow", { text: "late", delayMs: 1_000_000 });
  const members = pool([hangs], { breaker: { failures: 1 } });
  await using story = await given(anAgentWith(), { model: members, saw: [] });
  const run = await story.userSays("hi");
  await aMoment();
  await run.cancel();
  await story.pass("10s");
  await story.expectOutcome(run, "cancelled");
  expect(members.health()[0]?.state).toBe("closed");
});

test("a run waits out the rest of the only member, and its call is the probe that closes it", async () => {
  let isUp = false;
  const member = modelNamed("moody", () => (isUp ? "Back." : overloaded));
  await using story = await storyOf([member], { breaker: { failures: 1, restMs: 20_000 } });
  const run = await story.userSays("hi");
  const ticket = await story.expectWaitingFor(run, "timer");
  expect(ticket.dueAt).toBeGreaterThanOrEqual(story.t.clock.now() + 20_000);
  isUp = true;
  await story.pass("30s");
  await story.expectReply(run, "Back.");
});

test("a wrong key fails the run at once, although another member would answer", async () => {
  const members = [modelNamed("locked", { error: "model-refused", message: "401" }), modelNamed("up", "Hello.")];
  await using story = await storyOf([members[0] as Model, { model: members[1] as Model, failoverOnly: true }]);
  const run = await story.userSays("hi");
  const { error } = await story.expectOutcome(run, "failed");
  expect(error).toEqual({ code: "model-refused", message: "401" });
});

test("what is held is by the dearest member's prices, what it cost by those of the member that answered", async () => {
  const counts = { inputTokens: 100, outputTokens: 10 };
  const cheap = { description: { prices: { inputPerMillion: 1, outputPerMillion: 2 }, maxOutputTokens: 100 } };
  const dear = { description: { prices: { inputPerMillion: 10, outputPerMillion: 50 }, maxOutputTokens: 50 } };
  const members = [
    modelNamed("cheap", { text: "Done.", ...counts }, cheap),
    { model: modelNamed("dear", { text: "Done.", ...counts }, dear), failoverOnly: true },
  ];
  await using story = await storyOf(members, {}, { usd: 1 });
  const run = await story.userSays("hi");
  await story.expectReply(run, "Done.");
  const journal = await story.journal(run);
  const [intent] = journal.filter((entry) => entry.type === "effect-intended");
  expect(intent?.held?.outputTokens).toBe(50);
  expect(intent?.held?.microUsd).toBeGreaterThan(50 * 50); // the answer alone, without what is sent
  expect(settledIn(journal)).toMatchObject([{ kind: "done", cost: { tokens: 110, microUsd: 100 * 1 + 10 * 2 } }]);
});

test("runs of one thread stay with one member over restarts; threads are spread over both", async () => {
  const answered = async (story: Story, thread: string): Promise<string> => {
    const run = await story.userSays("hi", { thread: thread as ThreadId });
    await story.expectOutcome(run, "completed");
    const [settled] = settledIn(await story.journal(run)) as { answeredBy?: { model: string } }[];
    return settled?.answeredBy?.model ?? "?";
  };
  await using story = await storyOf([modelNamed("a", "A."), modelNamed("b", "B.")]);
  const homes = new Map<string, string>();
  for (let index = 0; index < 12; index += 1) homes.set(`t-${index}`, await answered(story, `t-${index}`));
  await story.restart();
  for (const [thread, home] of homes) expect(await answered(story, thread)).toBe(home);
  expect(new Set(homes.values())).toEqual(new Set(["a", "b"]));
});
