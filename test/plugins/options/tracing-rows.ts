/** The options of tracing: what they change is in the spans. */
import { trace } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { callsTool, says } from "../../../src/testing/story.ts";
import { type TracingOptions, tracing } from "../../../src/tracing.ts";
import { telemetry } from "../tracing/spans.ts";
import { look } from "./pieces.ts";
import { answerAll, type Play, type Rows, row } from "./told.ts";

const parent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;

function traced(options: TracingOptions, isTraced = true): Play {
  const { tracer, spans } = telemetry();
  const notes: string[] = [];
  trace.disable();
  return {
    agent: { tools: [look], plugins: [tracing({ ...(isTraced ? { tracer } : {}), ...options })] },
    answers: [callsTool("look", { at: 1 }), says("Done.")],
    notes,
    during: async (story, run) => {
      await answerAll(story, run);
      await story.t.settle();
      notes.push(...spans().map(lineOf));
    },
  };
}

/** Ids of spans are drawn, and different each time. */
function lineOf({ name, attributes, parentSpanContext }: ReadableSpan): string {
  const isUnder = parentSpanContext?.traceId === "a".repeat(32);
  return JSON.stringify({ name, attributes, isUnder });
}

export const tracingRows: Rows = {
  "tracing.tracer": row((isTraced: boolean) => traced({}, isTraced), false, true),
  "tracing.content": row(traced, {}, { content: true }),
  "tracing.parent": row(traced, {}, { parent: () => parent }),
};
