import { expect, test } from "vitest";
import { type PluginRun, plugin } from "../../src/index.ts";
import { aModelThat, anAgentWith, given, says } from "../../src/testing/story.ts";

interface Seen {
  readonly deltas: { readonly type: string; readonly attempt: number; readonly error?: string }[];
  readonly usage: unknown[];
  readonly found: { readonly as: string; readonly model: unknown; readonly at: number }[];
}

function spy(): { readonly seen: Seen; readonly plugins: ReturnType<ReturnType<typeof plugin>>[] } {
  const seen: Seen = { deltas: [], usage: [], found: [] };
  const spying = plugin({
    name: "spy",
    create: (_config: unknown, run: PluginRun) => {
      seen.found.push({ as: run.foundAs, model: run.model, at: run.now() });
      return {
        hooks: {
          "model-delta": ({ delta: { type, attempt, error } }) => {
            seen.deltas.push({ type, attempt, ...(error ? { error: error.code } : {}) });
          },
          "after-model": ({ reply }) => {
            seen.usage.push(reply.usage);
          },
        },
      };
    },
  });
  return { seen, plugins: [spying()] };
}

test("a plugin sees each attempt of a model call begin, and why it came to nothing", async () => {
  const { seen, plugins } = spy();
  const reply = { text: "Yes.", inputTokens: 3, outputTokens: 2 };
  const model = aModelThat({ attempts: [{ error: "model-overloaded" }, reply] });
  await using story = await given({ ...anAgentWith(), plugins }, model);
  const run = await story.userSays("hi");
  await story.pass("10s");
  await story.expectReply(run, "Yes.");
  expect(seen.deltas).toEqual([
    { type: "message-begun", attempt: 1 },
    { type: "message-retracted", attempt: 1, error: "model-overloaded" },
    { type: "message-begun", attempt: 2 },
    { type: "text-delta", attempt: 2 },
  ]);
  expect(seen.usage).toEqual([{ inputTokens: 3, outputTokens: 2 }]);
});

test("an attempt that was stopped from here is retracted without an error", async () => {
  const { seen, plugins } = spy();
  await using story = await given({ ...anAgentWith(), plugins }, aModelThat({ text: "late", delayMs: 60_000 }));
  const run = await story.userSays("hi");
  await story.t.clock.advance(10);
  await run.cancel();
  await story.expectOutcome(run, "cancelled");
  expect(seen.deltas).toEqual([
    { type: "message-begun", attempt: 1 },
    { type: "message-retracted", attempt: 1 },
  ]);
});

test("a plugin knows the model, the time, and how its run was found", async () => {
  const { seen, plugins } = spy();
  await using story = await given({ ...anAgentWith(), plugins }, aModelThat(says("Yes.")));
  const begun = story.t.clock.now();
  const run = await story.userSays("hi");
  await story.expectReply(run, "Yes.");
  expect(seen.found).toEqual([{ as: "created", model: { provider: "scripted", model: "scripted" }, at: begun }]);
});
