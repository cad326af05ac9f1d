/** What makes a run one trace over restarts: its first span's place, kept in the run as a W3C `traceparent`. */
import { type Context, isSpanContextValid, ROOT_CONTEXT, type SpanContext, trace } from "@opentelemetry/api";
import type { StandardSchema } from "../../domain/standard-schema.ts";
import { type StateKey, stateKey } from "../../domain/state-key.ts";

const text: StandardSchema<string, string> = {
  "~standard": {
    version: 1,
    vendor: "holdfast",
    validate: (value) => (typeof value === "string" ? { value } : { issues: [{ message: "must be a string" }] }),
  },
};

/** Empty as long as nobody traces the run. */
export const traceparent: StateKey<string> = stateKey({ name: "tracing.traceparent", schema: text, initial: "" });

const shape = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-|$)/;

/** Empty when there is nothing that spans could hang under: no SDK is set up. */
export function writeTraceparent(span: SpanContext): string {
  if (!isSpanContextValid(span)) return "";
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, "0")}`;
}

/** Undefined when it is none. */
export function readTraceparent(value: string): Context | undefined {
  const [, traceId = "", spanId = "", flags = "0"] = shape.exec(value) ?? [];
  const span: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(span) ? trace.setSpanContext(ROOT_CONTEXT, span) : undefined;
}
