import { type Span, type Tracer, trace } from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import {
  agent,
  type ConfiguredPlugin,
  isHoldfastError,
  memory,
  type Run,
  ToolFailure,
  tool,
} from "../../../src/index.ts";
import { aModelThat, anAgentWith, callsTools, given, type Story } from "../../../src/testing/story.ts";
import { countingIds, startProcess } from "../../../src/testing/test-process.ts";
import { createFakeClock, scripted, testRuntime } from "../../../src/testing.ts";
import { type TracingOptions, tracing } from "../../../src/tracing.ts";
import { telemetry, tracesOf } from "./spans.ts";

const canary = "canary-4711";
const order = z.object({ order: z.string() });
const lookUp = tool({
  name: "look-up",
  description: "Look up",
  input: order,
  effect: "pure",
  execute: ({ order }) => ({ found: order }),
});
const broken = tool({
  name: "broken",
  description: "Fails",
  input: order,
  execute: ({ order }) => {
    throw new ToolFailure(`no ${order}`);
  },
});
const refund = tool({ name: "refund", description: "x", input: order, needsApproval: true, execute: () => canary });

/** A run in which everything that anybody writes has the canary in it. */
async function tellAll(plugins: readonly ConfiguredPlugin[]): Promise<Story & { readonly run: Run }> {
  const input = { order: canary };
  const model = aModelThat(callsTools(["look-up", input], ["broken", input], ["refund", input]), {
    text: `Done ${canary}.`,
    reasoning: canary,
  });
  const story = await given({ ...anAgentWith(lookUp, broken, refund), plugins }, model);
  const run = await story.userSays(`Hello ${canary}`);
  await story.expectWaitingFor(run, "approval");
  await story.approve(run, "refund", { by: canary });
  await story.expectReply(run, `Done ${canary}.`);
  return { ...story, run };
}

test("without content nothing that anybody wrote is in a span", async () => {
  for (const options of [{}, { content: false }]) {
    const { tracer, spans } = telemetry();
    await using _story = await tellAll([tracing({ tracer, ...options })]);
    const told = spans().map(({ name, attributes, status, events }) => ({ name, attributes, status, events }));
    expect(told).toHaveLength(11);
    expect(JSON.stringify(told)).not.toContain(canary);
  }
});

test("with content a span has what was said, in the words of the conventions", async () => {
  const { tracer, named } = telemetry();
  await using _story = await tellAll([tracing({ tracer, content: true })]);
  const [first, second] = named("chat scripted").map(({ attributes }) => ({
    input: JSON.parse(String(attributes["gen_ai.input.messages"])) as unknown[],
    output: JSON.parse(String(attributes["gen_ai.output.messages"])) as unknown,
  }));
  const call = named("execute_tool look-up")[0]?.attributes["gen_ai.tool.call.id"];
  expect(first?.input).toEqual([{ role: "user", parts: [{ type: "text", content: `Hello ${canary}` }] }]);
  expect(first?.output).toMatchObject([{ role: "assistant", finish_reason: "tool_call" }]);
  expect(second?.input.slice(1, 3)).toMatchObject([
    {
      role: "assistant",
      parts: [{ type: "tool_call", id: call, name: "look-up", arguments: { order: canary } }, {}, {}],
    },
    { role: "tool", parts: [{ type: "tool_call_response", id: call, response: { found: canary } }] },
  ]);
  expect(second?.output).toEqual([
    {
      role: "assistant",
      finish_reason: "stop",
      parts: [
        { type: "reasoning", content: canary },
        { type: "text", content: `Done ${canary}.` },
      ],
    },
  ]);
  expect(named("execute_tool look-up")[0]?.attributes).toMatchObject({
    "gen_ai.tool.call.arguments": `{"order":"${canary}"}`,
    "gen_ai.tool.call.result": `{"found":"${canary}"}`,
  });
  const [failed] = named("execute_tool broken");
  expect(failed?.attributes["gen_ai.tool.call.result"]).toBe(`{"error":"tool-failed","message":"no ${canary}"}`);
  expect(failed?.status.message).toBe(`no ${canary}`);
  expect(named("wait approval")[0]?.attributes).toMatchObject({ "holdfast.decision.by": canary });
});

test("with content a model's failure says what it said", async () => {
  for (const [content, message] of [
    [true, `bad ${canary}`],
    [false, "model-refused"],
  ] as const) {
    const { tracer, named } = telemetry();
    const model = aModelThat({ error: "model-refused", message: `bad ${canary}` });
    await using story = await given({ ...anAgentWith(), plugins: [tracing({ tracer, content })] }, model);
    await story.expectOutcome(await story.userSays("hi"), "failed");
    const said = [...named("chat scripted"), ...named("invoke_agent teller")].map(({ status }) => status.message);
    expect(said).toEqual([message, message]);
  }
});

const parent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;

test("a run hangs under the parent that its options find, and under none unless said", async () => {
  const { tracer, named } = telemetry();
  const asked: unknown[] = [];
  const options: TracingOptions = {
    tracer,
    parent: ({ context, agent }) => {
      asked.push(agent);
      return (context as { traceparent?: string } | undefined)?.traceparent;
    },
  };
  const model = scripted(["Yes."]);
  const context = z.object({ traceparent: z.string().optional() });
  const teller = agent({ name: "teller", instructions: "", model, context, plugins: [tracing(options)] });
  await using t = await testRuntime({ agents: [teller] });
  await (await t.runtime.start(teller, "hi", { context: { traceparent: parent } })).result();
  await (await t.runtime.start(teller, "hi", { context: {} })).result();
  await (await t.runtime.start(teller, "hi", { context: { traceparent: "nonsense" } })).result();
  const [under, alone, nowhere] = named("invoke_agent teller");
  expect(under?.parentSpanContext).toMatchObject({ traceId: "a".repeat(32), spanId: "b".repeat(16), isRemote: true });
  expect(under?.spanContext().traceId).toBe("a".repeat(32));
  expect([alone, nowhere].map((span) => span?.parentSpanContext)).toEqual([undefined, undefined]);
  expect(asked).toEqual(["teller", "teller", "teller"]);
});

afterEach(() => trace.disable());

test("without a tracer the globally registered one makes the spans", async () => {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  await using _story = await tellAll([tracing()]);
  const spans = exporter.getFinishedSpans();
  expect(spans).toHaveLength(11);
  expect(tracesOf(spans)).toBe(1);
  expect(spans.map(({ instrumentationScope }) => instrumentationScope.name)).toContain("holdfast");
});

test("without any OpenTelemetry set up, nothing is traced and nothing is kept", async () => {
  await using story = await tellAll([tracing()]);
  const journal = await story.journal(story.run);
  expect(journal.filter(({ type }) => type === "state-changed")).toEqual([]);
});

function breaking(when: (method: string) => boolean): Tracer {
  const { tracer } = telemetry();
  const fail = (method: string): void => {
    if (when(method)) throw new Error(`${method} broke`);
  };
  return {
    startActiveSpan: tracer.startActiveSpan.bind(tracer) as Tracer["startActiveSpan"],
    startSpan(...args) {
      fail("startSpan");
      const span = tracer.startSpan(...args);
      return new Proxy(span, {
        get: (target, method: keyof Span) => {
          fail(method);
          return (target[method] as (...given: unknown[]) => unknown).bind(target);
        },
      });
    },
  };
}

test.each(["startSpan", "spanContext", "setAttributes", "setStatus", "setAttribute", "end", "every method"])(
  "a tracer of which %s throws harms no run",
  async (broken) => {
    const tracer = breaking((method) => broken === "every method" || method === broken);
    await using story = await tellAll([tracing({ tracer })]);
    expect(story.effects(refund)).toHaveLength(1);
  },
);

test("a parent that throws costs the run its parent, not its trace", async () => {
  const { tracer, named } = telemetry();
  const parent = (): never => {
    throw new Error("no request");
  };
  await using _story = await tellAll([tracing({ tracer, parent })]);
  expect(named("invoke_agent teller")).toHaveLength(1);
});

test("what tracing lacks is logged once for each stretch, with the run", async () => {
  const notes: string[] = [];
  const tracer = breaking((method) => method === "startSpan");
  const teller = agent({ name: "teller", instructions: "", model: scripted(["Yes."]), plugins: [tracing({ tracer })] });
  const process = await startProcess({
    store: memory(),
    agents: [teller],
    clock: createFakeClock(),
    ids: countingIds(),
    logger: { warn: (message) => notes.push(`warn ${message}`), note: (message) => notes.push(message) },
  });
  const run = await process.runtime.start(teller, "hi");
  expect((await run.result()).outcome).toBe("completed");
  await process.runtime.close();
  expect(notes).toEqual([`Tracing lacks something of run ${run.id}: startSpan broke`]);
});

test("an option that does not fit is refused by name, all at once", () => {
  const bad = { tracer: {}, content: "yes", parent: "00-", sampling: 1 } as never;
  const model = scripted([]);
  const define = (): unknown => agent({ name: "x", instructions: "", model, plugins: [tracing(bad)] });
  let problems: readonly string[] = [];
  try {
    define();
  } catch (cause) {
    if (isHoldfastError(cause)) problems = cause.problems;
  }
  const text = problems.join("\n");
  for (const option of ["tracer: must be", "content: must be", "parent: must be", "sampling: unknown option"]) {
    expect(text).toContain(option);
  }
  expect(() => agent({ name: "x", instructions: "", model, plugins: [tracing()] })).not.toThrow();
});
