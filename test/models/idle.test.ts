/** A provider that falls silent: given up after modelIdleMs, aborted, tried again, and told by what it did not do. */
import { expect, test } from "vitest";
import type { ModelPart } from "../../src/index.ts";
import { aModelThat, anAgentWith, given, type StoryModel, says } from "../../src/testing/story.ts";
import { aMoment, never } from "../scenarios/moments.ts";

const limits = { modelIdleMs: 10_000, modelTimeoutMs: 60_000 };

interface Heard {
  readonly model: StoryModel;
  readonly signals: AbortSignal[];
  /** The first call says this, one part for each call of it. */
  readonly say: (part: ModelPart) => Promise<void>;
}

/** The first call says what it is told to and never ends; the second one answers. */
function talkative(): Heard {
  const { model: whole } = aModelThat(says("Whole."));
  const signals: AbortSignal[] = [];
  let waiting = Promise.withResolvers<ModelPart>();
  const model: StoryModel = {
    saw: [],
    model: {
      ...whole,
      async *call(request, signal) {
        signals.push(signal);
        if (signals.length > 1) return yield* whole.call(request, signal);
        for (;;) {
          const part = await waiting.promise;
          waiting = Promise.withResolvers();
          yield part;
        }
      },
    },
  };
  const say = async (part: ModelPart): Promise<void> => {
    waiting.resolve(part);
    await aMoment();
  };
  return { model, signals, say };
}

async function begin(heard: Heard) {
  const story = await given(anAgentWith(), heard.model, { settings: { limits } });
  const run = await story.userSays("go");
  await aMoment();
  return { story, run };
}

async function failures(story: Awaited<ReturnType<typeof given>>, run: never): Promise<readonly unknown[]> {
  const journal = await story.journal(run);
  return journal.filter((entry) => entry.type === "effect-settled" && entry.result.kind === "failed");
}

test("a provider that never says anything is given up after the time, not before", async () => {
  const heard = talkative();
  const { story, run } = await begin(heard);
  await using _ = story;
  await story.pass(9_999);
  expect(heard.signals[0]?.aborted).toBe(false);
  await story.pass(1);
  expect(heard.signals[0]?.aborted).toBe(true);
  await story.pass("2s");
  await story.expectReply(run, "Whole.");
  expect(await failures(story, run as never)).toMatchObject([
    {
      result: {
        error: {
          code: "model-timeout",
          message: expect.stringMatching(/^[\w-]+\/[\w-]+ has said nothing for 10000 ms$/),
        },
      },
    },
  ]);
});

test.each<readonly [string, ModelPart]>([
  ["text", { type: "text-delta", text: "a" }],
  ["a ping", { type: "ping" }],
])("%s is a sign of life: the time begins again with each", async (_what, part) => {
  const heard = talkative();
  const { story } = await begin(heard);
  await using _ = story;
  for (let times = 0; times < 4; times += 1) {
    await story.pass(9_000);
    await heard.say(part);
  }
  expect(heard.signals[0]?.aborted).toBe(false);
  await story.pass(9_999);
  expect(heard.signals[0]?.aborted).toBe(false);
  await story.pass(1);
  expect(heard.signals[0]?.aborted).toBe(true);
});

test("signs of life do not lengthen the whole: modelTimeoutMs ends it", async () => {
  const heard = talkative();
  const { story, run } = await begin(heard);
  await using _ = story;
  for (let times = 0; times < 7; times += 1) {
    await story.pass(8_000);
    await heard.say({ type: "ping" });
  }
  await story.pass(3_999);
  expect(heard.signals[0]?.aborted).toBe(false);
  await story.pass(1);
  expect(heard.signals[0]?.aborted).toBe(true);
  await story.pass("2s");
  await story.expectReply(run, "Whole.");
  expect(await failures(story, run as never)).toMatchObject([
    { result: { error: { message: expect.stringMatching(/^[\w-]+\/[\w-]+ did not answer in 60000 ms$/) } } },
  ]);
});

test("a run that is cancelled while its provider is silent is cancelled, not failed", async () => {
  const heard = talkative();
  const { story, run } = await begin(heard);
  await using _ = story;
  await story.pass(5_000);
  await run.cancel();
  await story.pass("20s");
  await story.expectOutcome(run, "cancelled");
  expect(await failures(story, run as never)).toEqual([]);
});

test("a model that always falls silent fails the run by that name", async () => {
  const { model: whole } = aModelThat(says("Whole."));
  const model: StoryModel = {
    saw: [],
    model: {
      ...whole,
      async *call() {
        yield { type: "text-delta", text: "half" };
        await never();
      },
    },
  };
  await using story = await given(anAgentWith(), model, { settings: { limits: { ...limits, modelAttempts: 2 } } });
  const run = await story.userSays("go");
  await aMoment();
  await story.pass("5m");
  const end = await story.expectOutcome(run, "failed");
  expect(end.error.code).toBe("model-timeout");
  const messages = (await story.journal(run)).filter(({ type }) => type === "message-appended");
  expect(JSON.stringify(messages)).not.toContain("half");
});
