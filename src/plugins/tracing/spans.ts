/** Opens spans. Times are the run's own, so that one clock is over the whole trace, whichever process a span comes from. */
import { type Attributes, type Context, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { errorType } from "./names.ts";
import { writeTraceparent } from "./trace-context.ts";

export interface WantedSpan {
  readonly name: string;
  readonly at: number;
  readonly under: Context;
  readonly attributes?: Attributes;
  /** A call to another system. */
  readonly isClient?: boolean;
}

export interface OpenSpan {
  /** With this span as the parent. */
  readonly context: Context;
  readonly at: number;
  readonly traceparent: string;
  set(attributes: Attributes): void;
  fail(type: string, message: string): void;
  end(at: number): void;
}

export type SpanOpener = (wanted: WantedSpan) => OpenSpan;

/** `common`: on every span. */
export function createSpanOpener(tracer: () => Tracer, common: Attributes): SpanOpener {
  return ({ name, at, under, attributes, isClient }) => {
    const kind = isClient ? SpanKind.CLIENT : SpanKind.INTERNAL;
    // A Date: SDKs take small numbers for a count since the process began.
    const startTime = new Date(at);
    const span = tracer().startSpan(name, { kind, startTime, attributes: { ...common, ...attributes } }, under);
    return {
      context: trace.setSpan(under, span),
      at,
      traceparent: writeTraceparent(span.spanContext()),
      set: (more) => void span.setAttributes(more),
      fail(type, message) {
        span.setAttribute(errorType, type);
        span.setStatus({ code: SpanStatusCode.ERROR, message });
      },
      end: (endedAt) => span.end(new Date(endedAt)),
    };
  };
}
