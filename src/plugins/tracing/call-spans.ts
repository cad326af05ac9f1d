/** The spans of a step's tool calls: one for each attempt, and one for each call that was never run. */
import type { Context } from "@opentelemetry/api";
import type { CallId } from "../../domain/ids.ts";
import type { CallPhaseView, CallView, PhaseView } from "../../domain/plugin.ts";
import { callOf, endCall } from "./attributes.ts";
import type { Redact } from "./content.ts";
import { operations, ours } from "./names.ts";
import type { OpenSpan, SpanOpener } from "./spans.ts";

export interface CallSpansOptions {
  readonly open: SpanOpener;
  readonly content: Redact | undefined;
  /** The step's span; opened if it is not yet. */
  readonly under: (view: PhaseView) => Context;
  /** When this process took the run up. */
  readonly since: number;
}

export class CallSpans {
  readonly #by: CallSpansOptions;
  readonly #open = new Map<CallId, OpenSpan>();
  /** When the last attempt of a call ended: a further one begins there. */
  readonly #endedAt = new Map<CallId, number>();

  constructor(by: CallSpansOptions) {
    this.#by = by;
  }

  begin(view: CallPhaseView): void {
    const { call, now } = view;
    if (!this.#open.has(call.id)) this.#open.set(call.id, this.#start(view, call, now));
  }

  /** Without a beginning it is a further attempt, or one that was taken up after a crash. */
  end(view: CallPhaseView): void {
    const { call, now } = view;
    const begun = this.#endedAt.get(call.id) ?? this.#by.since;
    const span = this.#open.get(call.id) ?? this.#start(view, call, begun);
    this.#endedAt.set(call.id, now);
    this.#finish(span, call, now);
  }

  /** Calls that ended without a moment of their own: those that were never run, and those that came to nothing. */
  endAll(view: PhaseView): void {
    this.#endedAt.clear();
    for (const call of view.calls) {
      const isRefused = call.attempt === 0 && call.result !== undefined;
      const span = this.#open.get(call.id) ?? (isRefused ? this.#start(view, call, view.now) : undefined);
      if (span) this.#finish(span, call, view.now);
    }
  }

  leave(at: number): void {
    for (const [id, span] of this.#open) {
      this.#open.delete(id);
      span.set({ [ours.unfinished]: true });
      span.end(at);
    }
  }

  #start(view: PhaseView, call: CallView, at: number): OpenSpan {
    const name = `${operations.executeTool} ${call.tool}`;
    return this.#by.open({ name, at, under: this.#by.under(view), attributes: callOf(call, this.#by.content) });
  }

  #finish(span: OpenSpan, call: CallView, at: number): void {
    this.#open.delete(call.id);
    endCall(span, call, this.#by.content);
    span.end(at);
  }
}
