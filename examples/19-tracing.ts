// A run that waits for an approval, and goes on in another runtime: one OpenTelemetry trace.
// expect: 10 spans, 1 trace
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { agent, createRuntime, tool } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { scripted } from "holdfast/testing";
import { tracing } from "holdfast/tracing";
import { z } from "zod";

const exporter = new InMemorySpanExporter(); // in production one that sends spans to your collector
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });

const lookUp = tool({
  name: "look-up",
  description: "Look up an order",
  input: z.object({ order: z.string() }),
  effect: "pure",
  execute: ({ order }) => ({ order, cents: 8_000 }),
});
const refund = tool({
  name: "refund",
  description: "Refund an order",
  input: z.object({ order: z.string() }),
  effect: "idempotent",
  needsApproval: true,
  execute: ({ order }) => ({ refunded: order }),
});

const input = { order: "42" };
const model = scripted([
  {
    calls: [
      { tool: "look-up", input },
      { tool: "refund", input },
    ],
    inputTokens: 7,
    outputTokens: 3,
  },
  { text: "Refunded.", inputTokens: 9, outputTokens: 4 },
]);

// #region agent
const support = agent({
  name: "support",
  model,
  instructions: "Resolve refund requests politely.",
  tools: [lookUp, refund],
  plugins: [tracing({ tracer: provider.getTracer("support") })],
});
// #endregion agent

async function startAndWait(): Promise<void> {
  await using runtime = await createRuntime({ agents: [support], store: sqlite("runs.db") });
  await (await runtime.start(support, "Refund order 42", { key: "order-42" })).idle();
}

async function approveAndFinish(): Promise<void> {
  await using runtime = await createRuntime({ agents: [support], store: sqlite("runs.db") });
  const [ticket] = await runtime.tickets.list({ tool: refund, status: "open" });
  if (ticket?.kind !== "approval") throw new Error("no approval is waiting");
  await ticket.approve({ by: "ana@example.com" });
  await (await runtime.start(support, "Refund order 42", { key: "order-42" })).result(); // the same key, the same run
}

await startAndWait();
await approveAndFinish(); // as if it were another process, days later

const spans = exporter.getFinishedSpans();
print(undefined, "");
console.log(`${spans.length} spans, ${new Set(spans.map((span) => span.spanContext().traceId)).size} trace`);

function print(parent: string | undefined, indent: string): void {
  const below = spans.filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent);
  for (const span of below.sort(byStart)) {
    console.log(indent + span.name + tokensOf(span));
    print(span.spanContext().spanId, `${indent}  `);
  }
}

function byStart(a: ReadableSpan, b: ReadableSpan): number {
  const [seconds, nanos] = a.startTime;
  const [otherSeconds, otherNanos] = b.startTime;
  return seconds - otherSeconds || nanos - otherNanos || (a.name < b.name ? -1 : 1);
}

function tokensOf({ name, attributes }: ReadableSpan): string {
  if (!name.startsWith("chat ")) return "";
  return ` (${attributes["gen_ai.usage.input_tokens"]} in, ${attributes["gen_ai.usage.output_tokens"]} out)`;
}
