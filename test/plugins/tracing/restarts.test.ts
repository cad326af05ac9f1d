import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { expect, test } from "vitest";
import { z } from "zod";
import { plugin, tool } from "../../../src/index.ts";
import { traceparent } from "../../../src/plugins/tracing/trace-context.ts";
import { aModelThat, anAgentWith, callsTool, callsTools, given, says } from "../../../src/testing/story.ts";
import { tracing } from "../../../src/tracing.ts";
import { lengthOf, startOf, telemetry, tracesOf } from "./spans.ts";

const order = z.object({ order: z.string() });
const check = tool({ name: "check", description: "Check", input: order, effect: "pure", execute: () => "fine" });
const refund = tool({
  name: "refund",
  description: "Refund",
  input: order,
  effect: "idempotent",
  needsApproval: true,
  execute: () => "refunded",
});

const guarded = tool({
  name: "check",
  description: "Check",
  input: order,
  effect: "pure",
  needsApproval: true,
  execute: () => "fine",
});

/** As the how-to page shows it. */
const shownTree = readFileSync(resolve(import.meta.dirname, "../../../docs/how-to/tracing-tree.txt"), "utf8")
  .trimEnd()
  .split("\n");

const asking = aModelThat(callsTools(["check", { order: "1" }], ["refund", { order: "1" }]), says("Refunded."));

test("a run that waits, dies and is approved is one trace, with a span for each stretch and for the wait", async () => {
  const { tracer, tree, spans, named } = telemetry();
  await using story = await given({ ...anAgentWith(check, refund), plugins: [tracing({ tracer })] }, asking);
  const begun = story.t.clock.now();
  const run = await story.userSays("hi");
  const ticket = await story.expectWaitingFor(run, "approval");
  expect(tree()).toEqual(["invoke_agent teller", "  step 1", "    chat scripted", "    execute_tool check"]);
  await story.restart();
  await story.pass("3d");
  await story.approve(run, "refund", { by: "ana" });
  await story.expectReply(run, "Refunded.");
  expect(tree()).toEqual(shownTree);
  expect(tracesOf(spans())).toBe(1);
  const [wait] = named("wait approval");
  const [later] = named("resume_agent teller");
  const waited = story.t.clock.now() - begun;
  expect(waited).toBeGreaterThan(3 * 24 * 3_600_000);
  expect(wait && [startOf(wait) - begun, lengthOf(wait)]).toEqual([0, waited]);
  expect(wait?.attributes).toEqual({
    "holdfast.run.id": run.id,
    "holdfast.scope": "default",
    "gen_ai.agent.name": "teller",
    "gen_ai.conversation.id": wait?.attributes["gen_ai.conversation.id"],
    "holdfast.ticket.id": ticket.id,
    "holdfast.ticket.kind": "approval",
    "holdfast.decision": "approve",
    "gen_ai.tool.name": "refund",
    "gen_ai.tool.call.id": `${run.id}.1.1`,
  });
  expect(later?.attributes).toMatchObject({
    "gen_ai.operation.name": "resume_agent",
    "holdfast.resume.reason": "decision",
    "holdfast.outcome": "completed",
    "holdfast.steps": 2,
  });
  expect(named("invoke_agent teller")[0]?.attributes).not.toHaveProperty("holdfast.outcome");
});

test("a run that is not sampled at its beginning is not sampled later", async () => {
  const exporter = new InMemorySpanExporter();
  let roots = 0;
  const root: Sampler = {
    shouldSample: () => {
      roots += 1;
      return { decision: roots > 1 ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD };
    },
  };
  const provider = new BasicTracerProvider({
    sampler: new ParentBasedSampler({ root }),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  const plugins = [tracing({ tracer: provider.getTracer("test") })];
  await using story = await given({ ...anAgentWith(check, refund), plugins }, asking);
  const run = await story.userSays("hi");
  await story.expectWaitingFor(run, "approval");
  await story.restart();
  await story.approve(run, "refund");
  await story.expectReply(run, "Refunded.");
  expect(exporter.getFinishedSpans()).toEqual([]);
  expect(roots).toBe(1);
  expect((await run.state()).get(traceparent)).toMatch(/-00$/);
});

test("it leaves one state key in the journal, and nothing else", async () => {
  const { tracer, spans } = telemetry();
  await using story = await given({ ...anAgentWith(check, refund), plugins: [tracing({ tracer })] }, asking);
  const run = await story.userSays("hi");
  await story.approve(run, "refund");
  await story.expectReply(run, "Refunded.");
  const written = (await story.journal(run)).filter(
    ({ type }) => type === "state-changed" || type === "command-applied",
  );
  const first = spans()
    .find(({ name }) => name === "invoke_agent teller")
    ?.spanContext();
  const value = `00-${first?.traceId}-${first?.spanId}-01`;
  expect(written).toMatchObject([
    { type: "state-changed", key: "tracing.traceparent", change: { value } },
    { type: "command-applied", phase: "before-run", commands: [] },
  ]);
});

test("two approvals that are answered one after the other are two waits, each told once", async () => {
  const { tracer, named, tree } = telemetry();
  const model = aModelThat(callsTools(["refund", { order: "1" }], ["check", { order: "2" }]), says("Done."));
  await using story = await given({ ...anAgentWith(refund, guarded), plugins: [tracing({ tracer })] }, model);
  const run = await story.userSays("hi");
  await story.approve(run, "refund");
  await story.t.settle();
  await story.restart();
  await story.reject(run, "check", "no");
  await story.expectReply(run, "Done.");
  expect(named("wait approval").map(({ attributes }) => attributes["holdfast.decision"])).toEqual([
    "approve",
    "reject",
  ]);
  expect(tree()).toEqual([
    "invoke_agent teller",
    "  step 1",
    "    chat scripted",
    "  wait approval",
    "  resume_agent teller",
    "    step 1",
    "      execute_tool refund",
    "  wait approval",
    "  resume_agent teller",
    "    step 1",
    "      execute_tool check !rejected",
    "    step 2",
    "      chat scripted",
  ]);
});

test("what a crash cut is never told; the next process goes on in the same trace", async () => {
  const { tracer, tree, spans, named } = telemetry();
  let isHanging = true;
  const hanging = tool({
    name: "hanging",
    description: "Hangs once",
    input: z.object({}),
    effect: "pure",
    execute: () => (isHanging ? new Promise(() => undefined) : "done"),
  });
  const model = aModelThat(callsTool("hanging"), says("Done."));
  await using story = await given({ ...anAgentWith(hanging), plugins: [tracing({ tracer })] }, model);
  const run = await story.userSays("hi");
  await sleep(20);
  expect(tree()).toEqual(["chat scripted"]);
  isHanging = false;
  await story.restart();
  await story.expectReply(run, "Done.");
  const [lost] = named("chat scripted");
  const place = (await run.state()).get(traceparent);
  expect(named("resume_agent teller").map(({ parentSpanContext: over }) => over?.spanId)).toEqual([
    place.split("-")[2],
  ]);
  expect(tree()).toEqual([
    "chat scripted", // of the process that died: its step and its run were never ended
    "resume_agent teller",
    "  step 1",
    "    execute_tool hanging",
    "  step 2",
    "    chat scripted",
  ]);
  expect(tracesOf(spans())).toBe(1);
  expect(lost?.parentSpanContext).toBeDefined();
  expect(named("resume_agent teller")[0]?.attributes).toMatchObject({ "holdfast.resume.reason": "takeover" });
  expect(named("execute_tool hanging")[0]?.attributes).toMatchObject({ "holdfast.attempt": 2 });
});

test("a pause between two attempts that outlasts the process is one trace as well", async () => {
  const { tracer, tree, spans, named } = telemetry();
  const overloaded = { error: "model-overloaded", retryAfterMs: 600_000 } as const;
  const model = aModelThat({ attempts: [overloaded, says("At last.")] });
  await using story = await given({ ...anAgentWith(), plugins: [tracing({ tracer })] }, model);
  const run = await story.userSays("hi");
  await story.expectWaitingFor(run, "timer");
  await story.pass("20m");
  await story.expectReply(run, "At last.");
  expect(tree()).toEqual([
    "invoke_agent teller",
    "  step 1",
    "    chat scripted !model-overloaded",
    "  resume_agent teller",
    "    step 1",
    "      chat scripted",
  ]);
  expect(tracesOf(spans())).toBe(1);
  expect(named("resume_agent teller")[0]?.attributes).toMatchObject({ "holdfast.resume.reason": "wake" });
});

test("a waiting run that is cancelled ends in its trace, and the call that never ran is told", async () => {
  const { tracer, tree, spans, named } = telemetry();
  await using story = await given({ ...anAgentWith(check, refund), plugins: [tracing({ tracer })] }, asking);
  const run = await story.userSays("hi");
  await story.expectWaitingFor(run, "approval");
  await story.restart();
  await run.cancel({ reason: "enough" });
  await story.expectOutcome(run, "cancelled");
  expect(tree()).toEqual([
    "invoke_agent teller",
    "  step 1",
    "    chat scripted",
    "    execute_tool check",
    "  resume_agent teller",
    "    step 1",
    "      execute_tool refund !not-run",
  ]);
  expect(tracesOf(spans())).toBe(1);
  expect(named("resume_agent teller")[0]?.attributes).toMatchObject({
    "holdfast.resume.reason": "cancel",
    "holdfast.outcome": "cancelled",
  });
});

test("what is in flight when the run waits for an operator is marked, and the wait is told", async () => {
  const { tracer, tree } = telemetry();
  const doubtful = tool({
    name: "doubtful",
    description: "Nobody knows",
    input: z.object({}),
    execute: () => {
      throw new Error("connection lost");
    },
  });
  const model = aModelThat(callsTool("doubtful"), says("Done."));
  await using story = await given({ ...anAgentWith(doubtful), plugins: [tracing({ tracer })] }, model);
  const run = await story.userSays("hi");
  const ticket = await story.expectWaitingFor(run, "unknown-outcome");
  await ticket.markDone("it happened");
  await story.expectReply(run, "Done.");
  expect(tree()).toEqual([
    "invoke_agent teller",
    "  step 1",
    "    chat scripted",
    "    execute_tool doubtful ?",
    "  wait unknown-outcome",
    "  resume_agent teller",
    "    step 2",
    "      chat scripted",
  ]);
});

test("a step that had ended before the run waited is not told again", async () => {
  const { tracer, tree } = telemetry();
  let finish: (value: string) => void = () => undefined;
  const execute = (): Promise<string> =>
    new Promise((resolve) => {
      finish = resolve;
    });
  const slow = tool({ name: "slow", description: "Slow", input: z.object({}), effect: "pure", execute });
  const model = aModelThat(callsTools(["nonsense", {}], ["slow", {}]), says("Done."));
  await using story = await given({ ...anAgentWith(slow), plugins: [tracing({ tracer })] }, model);
  const run = await story.userSays("hi");
  await sleep(20);
  await run.pause({ by: "ana" });
  finish("done");
  await story.expectWaitingFor(run, "pause");
  await story.restart();
  await (await story.expectWaitingFor(run, "pause")).release();
  await story.expectReply(run, "Done.");
  expect(tree()).toEqual([
    "invoke_agent teller",
    "  step 1",
    "    chat scripted",
    "    execute_tool slow",
    "    execute_tool nonsense !unknown-tool",
    "  wait pause",
    "  resume_agent teller",
    "    step 2",
    "      chat scripted",
  ]);
});

test("the wait for what a plugin asked has the name of the question", async () => {
  const { tracer, named } = telemetry();
  const curious = plugin({
    name: "curious",
    create: () => ({
      hooks: { "before-run": () => ({ type: "open-ticket", name: "go-on", prompt: "Go on?" }) },
    }),
  });
  const plugins = [tracing({ tracer }), curious()];
  await using story = await given({ ...anAgentWith(), plugins }, aModelThat(says("Done.")));
  const run = await story.userSays("hi");
  await (await story.expectWaitingFor(run, "input")).answer("yes");
  await story.expectReply(run, "Done.");
  expect(named("wait input").map(({ attributes }) => attributes["holdfast.ticket.name"])).toEqual(["go-on"]);
});
