import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { plugin, pool, type Tool, ToolFailure, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/providers/scripted.ts";
import { aModelThat, anAgentWith, callsTool, callsTools, given, type Story, says } from "../../../src/testing/story.ts";
import { tracing } from "../../../src/tracing.ts";
import { isClient, lengthOf, startOf, telemetry, tracesOf } from "./spans.ts";

const order = z.object({ order: z.string() });
const lookUp = tool({ name: "look-up", description: "Look up", input: order, effect: "pure", execute: () => "there" });
const check = tool({ name: "check", description: "Check", input: order, effect: "pure", execute: () => "fine" });
const broken = tool({
  name: "broken",
  description: "Fails",
  input: order,
  execute: () => {
    throw new ToolFailure("no such order");
  },
});

const hanging = tool({
  name: "hanging",
  description: "Hangs until it is stopped",
  input: z.object({}),
  effect: "pure",
  execute: (_input, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("stopped")));
    }),
});

const denying = plugin({
  name: "denying",
  create: () => ({ policy: { "tool-call": ({ call }) => (call.tool === "check" ? { deny: "not today" } : "allow") } }),
});

test("of a pool the span of a call names the model that answered", async () => {
  const { tracer, named } = telemetry();
  const down = scripted([{ error: "model-overloaded" }], { name: "down" });
  const model = pool([down, { model: scripted(["Done."], { name: "up" }), failoverOnly: true }]);
  await using story = await given({ ...anAgentWith(), plugins: [tracing({ tracer })] }, { model, saw: [] });
  const run = await story.userSays("hi");
  await story.expectReply(run, "Done.");
  expect(named("chat scripted/down | scripted/up")[0]?.attributes).toMatchObject({
    "gen_ai.provider.name": "pool",
    "gen_ai.request.model": "scripted/down | scripted/up",
    "gen_ai.response.model": "up",
  });
});

test("a run of two steps with parallel calls is one tree", async () => {
  const { tracer, tree, spans } = telemetry();
  const model = aModelThat(callsTools(["look-up", { order: "1" }], ["check", { order: "2" }]), says("Done."));
  const plugins = [tracing({ tracer })];
  await using story = await given({ ...anAgentWith(lookUp, check), plugins }, model);
  await story.expectReply(await story.userSays("hi"), "Done.");
  expect(tree()).toEqual([
    "invoke_agent teller",
    "  step 1",
    "    chat scripted",
    "    execute_tool look-up",
    "    execute_tool check",
    "  step 2",
    "    chat scripted",
  ]);
  expect(tracesOf(spans())).toBe(1);
});

test("the attributes are those of the conventions, and nothing of what was said", async () => {
  const { tracer, named } = telemetry();
  const calls = [{ tool: "look-up", input: { order: "1" } }];
  const model = aModelThat(
    { calls, inputTokens: 7, outputTokens: 3 },
    { text: "Done.", inputTokens: 11, outputTokens: 2 },
  );
  await using story = await given({ ...anAgentWith(lookUp), plugins: [tracing({ tracer })] }, model);
  const run = await story.userSays("hi", { thread: "t-1" });
  await story.expectReply(run, "Done.");
  const common = {
    "holdfast.scope": "default",
    "holdfast.run.id": run.id,
    "gen_ai.agent.name": "teller",
    "gen_ai.conversation.id": "t-1",
  };
  const request = { "gen_ai.provider.name": "scripted", "gen_ai.request.model": "scripted" };
  const [root] = named("invoke_agent teller");
  expect(root?.attributes).toEqual({
    ...common,
    ...request,
    "gen_ai.operation.name": "invoke_agent",
    "holdfast.outcome": "completed",
    "holdfast.steps": 2,
    "gen_ai.usage.input_tokens": 18,
    "gen_ai.usage.output_tokens": 5,
  });
  expect(named("step 2")[0]?.attributes).toEqual({ ...common, "holdfast.step": 2 });
  const [first, second] = named("chat scripted");
  expect(first?.attributes).toEqual({
    ...common,
    ...request,
    "gen_ai.operation.name": "chat",
    "holdfast.attempt": 1,
    "gen_ai.response.model": "scripted",
    "gen_ai.response.finish_reasons": ["tool_call"],
    "gen_ai.usage.input_tokens": 7,
    "gen_ai.usage.output_tokens": 3,
  });
  expect(second?.attributes).toMatchObject({
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.response.time_to_first_chunk": 0,
    "gen_ai.usage.input_tokens": 11,
    "gen_ai.usage.output_tokens": 2,
  });
  const [call] = named("execute_tool look-up");
  expect(call?.attributes).toEqual({
    ...common,
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "look-up",
    "gen_ai.tool.type": "function",
    "gen_ai.tool.call.id": `${run.id}.1.0`,
    "holdfast.attempt": 1,
  });
  expect([root, first, call].map((span) => span && isClient(span))).toEqual([false, true, false]);
});

/** A tool that ends when it is told to. */
function aSlowTool(): { readonly slow: Tool; finish(): void } {
  let finish: () => void = () => undefined;
  const slow = tool({
    name: "slow",
    description: "Takes its time",
    input: z.object({}),
    effect: "pure",
    execute: () =>
      new Promise<string>((resolve) => {
        finish = () => resolve("done");
      }),
  });
  return { slow, finish: () => finish() };
}

async function pass(story: Story, ms: number): Promise<void> {
  await sleep(20);
  await story.t.clock.advance(ms);
}

test("spans last as long as what they stand for, by the run's own clock", async () => {
  const { tracer, named } = telemetry();
  const { slow, finish } = aSlowTool();
  const model = aModelThat(callsTool("slow"), says("Done."));
  await using story = await given({ ...anAgentWith(slow), plugins: [tracing({ tracer })] }, model);
  const begun = story.t.clock.now();
  const run = await story.userSays("hi");
  await pass(story, 4_000);
  finish();
  await story.expectReply(run, "Done.");
  const names = ["execute_tool slow", "chat scripted", "invoke_agent teller", "step 1", "step 2"];
  const spans = names.map((name) => named(name)[0]);
  expect(spans.map((span) => span && [startOf(span) - begun, lengthOf(span)])).toEqual([
    [0, 4_000],
    [0, 0],
    [0, 4_000],
    [0, 4_000],
    [4_000, 0],
  ]);
});

test("a call that is denied, one that fails and one of no known tool are errors, by their code", async () => {
  const { tracer, tree, named } = telemetry();
  const model = aModelThat(
    callsTools(["check", { order: "1" }], ["broken", { order: "2" }], ["nonsense", {}], ["look-up", { order: 3 }]),
    says("Sorry."),
  );
  const plugins = [denying(), tracing({ tracer })];
  await using story = await given({ ...anAgentWith(lookUp, check, broken), plugins }, model);
  await story.expectReply(await story.userSays("hi"), "Sorry.");
  expect(tree().toSorted()).toEqual([
    "    chat scripted",
    "    chat scripted",
    "    execute_tool broken !tool-failed",
    "    execute_tool check !denied",
    "    execute_tool look-up !invalid-input",
    "    execute_tool nonsense !unknown-tool",
    "  step 1",
    "  step 2",
    "invoke_agent teller",
  ]);
  expect(named("execute_tool check")[0]?.attributes).toMatchObject({ "holdfast.attempt": 0, "error.type": "denied" });
  expect(named("execute_tool broken")[0]?.status.message).toBe("tool-failed");
});

test("a call that a plugin stops just before it runs is told once", async () => {
  const { tracer, tree } = telemetry();
  const late = plugin({
    name: "late",
    create: () => ({ hooks: { "before-tool": () => ({ type: "deny", reason: "too late" }) } }),
  });
  const model = aModelThat(callsTool("check", { order: "1" }), says("Sorry."));
  const plugins = [tracing({ tracer }), late()];
  await using story = await given({ ...anAgentWith(check), plugins }, model);
  await story.expectReply(await story.userSays("hi"), "Sorry.");
  expect(tree().slice(2, 4)).toEqual(["    chat scripted", "    execute_tool check !denied"]);
});

test("each attempt of a call that a plugin wants again has its span", async () => {
  const { tracer, named } = telemetry();
  const { slow, finish } = aSlowTool();
  const again = plugin({
    name: "again",
    create: () => ({
      hooks: { "after-tool": ({ call }) => (call.attempt < 2 ? { type: "retry", reason: "not yet" } : undefined) },
    }),
  });
  const model = aModelThat(callsTool("slow"), says("Done."));
  await using story = await given({ ...anAgentWith(slow), plugins: [tracing({ tracer }), again()] }, model);
  const run = await story.userSays("hi");
  await pass(story, 1_000);
  finish();
  await pass(story, 2_000);
  finish();
  await story.expectReply(run, "Done.");
  const attempts = named("execute_tool slow").map((span) => [span.attributes["holdfast.attempt"], lengthOf(span)]);
  expect(attempts).toEqual([
    [1, 1_000],
    [2, 2_000],
  ]);
});

test("each attempt of a model call has its span, and those that failed say why", async () => {
  const { tracer, tree, named } = telemetry();
  const model = aModelThat({ attempts: [{ error: "model-overloaded", message: "busy" }, says("At last.")] });
  await using story = await given({ ...anAgentWith(), plugins: [tracing({ tracer })] }, model);
  const run = await story.userSays("hi");
  await story.pass("10s");
  await story.expectReply(run, "At last.");
  expect(tree()).toEqual([
    "invoke_agent teller",
    "  step 1",
    "    chat scripted !model-overloaded",
    "    chat scripted",
  ]);
  const [failed, good] = named("chat scripted");
  expect([failed, good].map((span) => span?.attributes["holdfast.attempt"])).toEqual([1, 2]);
  expect(failed && lengthOf(failed)).toBe(0); // the pause before the next attempt is no part of it
  expect(failed?.attributes).not.toHaveProperty("gen_ai.usage.input_tokens");
});

test("a run that fails has the error on its span", async () => {
  const { tracer, tree, named } = telemetry();
  const model = aModelThat({ error: "model-refused", message: "bad key" });
  await using story = await given({ ...anAgentWith(), plugins: [tracing({ tracer })] }, model);
  await story.expectOutcome(await story.userSays("hi"), "failed");
  expect(tree()).toEqual(["invoke_agent teller !model-refused", "  step 1", "    chat scripted !model-refused"]);
  expect(named("invoke_agent teller")[0]?.attributes).toMatchObject({ "holdfast.outcome": "failed" });
});

test("a run that is stopped says by what, and is no error", async () => {
  const { tracer, named } = telemetry();
  const calling = aModelThat(callsTool("check", { order: "1" }), callsTool("check", { order: "2" }));
  const teller = { ...anAgentWith(check), plugins: [tracing({ tracer })], budget: { steps: 1 } };
  await using story = await given(teller, calling);
  await story.expectOutcome(await story.userSays("hi"), "stopped");
  expect(named("invoke_agent teller")[0]?.attributes).toMatchObject({
    "holdfast.outcome": "stopped",
    "holdfast.outcome.code": "steps",
  });
  expect(named("invoke_agent teller")[0]?.status.code).toBe(0);
});

test("a run that times out is an error", async () => {
  const { tracer, tree } = telemetry();
  const teller = { ...anAgentWith(hanging), plugins: [tracing({ tracer })], budget: { wallTime: 1_000 } };
  await using story = await given(teller, aModelThat(callsTool("hanging"), says("Never.")));
  const run = await story.userSays("hi");
  await story.pass("2s");
  await story.expectOutcome(run, "timed-out");
  expect(tree()).toEqual([
    "invoke_agent teller !timed-out",
    "  step 1",
    "    chat scripted",
    "    execute_tool hanging !aborted",
  ]);
});

test("a cancelled run ends its spans, and what was in flight is marked", async () => {
  const { tracer, tree } = telemetry();
  const model = aModelThat(callsTools(["hanging", {}], ["check", { order: "1" }]), says("Never."));
  await using story = await given({ ...anAgentWith(hanging, check), plugins: [tracing({ tracer })] }, model);
  const run = await story.userSays("hi");
  await sleep(20);
  await run.cancel({ reason: "enough" });
  await story.expectOutcome(run, "cancelled");
  expect(tree()).toEqual([
    "invoke_agent teller",
    "  step 1",
    "    chat scripted",
    "    execute_tool check",
    "    execute_tool hanging !aborted",
  ]);
});

test("a run that is cancelled before its turn has a span of its own", async () => {
  const { tracer, named } = telemetry();
  const model = aModelThat(callsTool("hanging"));
  await using story = await given({ ...anAgentWith(hanging), plugins: [tracing({ tracer })] }, model);
  const first = await story.userSays("hi", { thread: "t-1" });
  const queued = await story.userSays("and again", { thread: "t-1" });
  await queued.cancel();
  await story.expectOutcome(queued, "cancelled");
  expect(named("invoke_agent teller").map(({ attributes }) => attributes["holdfast.run.id"])).toEqual([queued.id]);
  await first.cancel();
  await story.expectOutcome(first, "cancelled");
});

test("runs at the same time share no span", async () => {
  const { tracer, spans } = telemetry();
  const model = aModelThat(callsTool("check", { order: "1" }), says("Done."));
  await using story = await given({ ...anAgentWith(check), plugins: [tracing({ tracer })] }, model);
  const runs = await Promise.all([1, 2, 3].map((n) => story.userSays(`hi ${n}`)));
  await Promise.all(runs.map((run) => story.expectReply(run, "Done.")));
  for (const run of runs) {
    const own = spans().filter(({ attributes }) => attributes["holdfast.run.id"] === run.id);
    expect(own.map(({ name }) => name).toSorted()).toEqual([
      "chat scripted",
      "chat scripted",
      "execute_tool check",
      "invoke_agent teller",
      "step 1",
      "step 2",
    ]);
    expect(tracesOf(own)).toBe(1);
  }
  expect(tracesOf(spans())).toBe(3);
});
