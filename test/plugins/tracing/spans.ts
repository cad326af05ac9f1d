/** An in-memory OpenTelemetry, and what it was given as a tree that reads like a picture. */
import { SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

export interface Telemetry {
  readonly tracer: Tracer;
  /** In the order in which they ended. */
  spans(): readonly ReadableSpan[];
  named(name: string): readonly ReadableSpan[];
  /** One line per span, indented below its parent, by start time; `!` and the error type where it failed. */
  tree(): readonly string[];
}

export function telemetry(): Telemetry {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
  return {
    tracer: provider.getTracer("test"),
    spans,
    named: (name) => spans().filter((span) => span.name === name),
    tree: () => treeOf(spans()),
  };
}

export function treeOf(spans: readonly ReadableSpan[]): readonly string[] {
  const known = new Set(spans.map((span) => span.spanContext().spanId));
  const below = (parent: string | undefined, indent: string): readonly string[] =>
    spans
      .filter(({ parentSpanContext: over }) => (over && known.has(over.spanId) ? over.spanId : undefined) === parent)
      .sort((a, b) => startOf(a) - startOf(b))
      .flatMap((span) => [indent + lineOf(span), ...below(span.spanContext().spanId, `${indent}  `)]);
  return below(undefined, "");
}

function lineOf({ name, status, attributes }: ReadableSpan): string {
  const failed = status.code === SpanStatusCode.ERROR ? ` !${String(attributes["error.type"])}` : "";
  return `${name}${failed}${attributes["holdfast.unfinished"] ? " ?" : ""}`;
}

/** Milliseconds. */
export function startOf({ startTime: [seconds, nanos] }: ReadableSpan): number {
  return seconds * 1000 + nanos / 1e6;
}

export function lengthOf({ duration: [seconds, nanos] }: ReadableSpan): number {
  return seconds * 1000 + nanos / 1e6;
}

export function tracesOf(spans: readonly ReadableSpan[]): number {
  return new Set(spans.map((span) => span.spanContext().traceId)).size;
}

export function isClient({ kind }: ReadableSpan): boolean {
  return kind === SpanKind.CLIENT;
}
