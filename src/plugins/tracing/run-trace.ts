/**
 * The spans of one run in one process.
 *
 * T1 A stretch of the run, from being taken up to waiting or ending, is one span; all of them hang under the first one's.
 * T2 Only what this process saw begin, or what no process has ended, is told: a moment that is asked again after a restart
 *    opens no second span.
 * T3 When the run leaves, nothing stays open; what had not ended is marked as unfinished.
 * T4 Nothing of a message, input or result is in a span unless content is wanted.
 */
import { type Context, ROOT_CONTEXT } from "@opentelemetry/api";
import type { SetState } from "../../domain/command.ts";
import type {
  CallPhaseView,
  DecisionView,
  DeltaView,
  EndView,
  PhaseView,
  PluginRun,
  ReplyView,
} from "../../domain/plugin.ts";
import { endRun, replyOf, requestOf, waitOf } from "./attributes.ts";
import { CallSpans } from "./call-spans.ts";
import { inputMessages, type Redact, said } from "./content.ts";
import { genAi, operations, ours } from "./names.ts";
import type { OpenSpan, SpanOpener } from "./spans.ts";
import { readTraceparent, traceparent } from "./trace-context.ts";

export interface RunTraceOptions {
  readonly run: PluginRun;
  readonly open: SpanOpener;
  /** What content goes through, where it is wanted (T4). */
  readonly content: Redact | undefined;
  /** What the whole run hangs under, if it hangs under anything. */
  readonly parent: () => Context | undefined;
}

interface OpenModel {
  readonly span: OpenSpan;
  readonly attempt: number;
  isFirstPieceSeen: boolean;
}

export class RunTrace {
  readonly #by: RunTraceOptions;
  readonly #takenUpAt: number;
  #origin: Context = ROOT_CONTEXT;
  #stretch: OpenSpan | undefined;
  #step: { readonly number: number; readonly span: OpenSpan } | undefined;
  #stepBegunAt: number | undefined;
  /** The last step that this process has seen in progress, until its end was told. */
  #stepSeen: number | undefined;
  #model: OpenModel | undefined;
  readonly #calls: CallSpans;

  constructor(by: RunTraceOptions) {
    this.#by = by;
    this.#takenUpAt = by.run.now();
    const under = (view: PhaseView): Context => this.#stepOf(view).context;
    this.#calls = new CallSpans({ open: by.open, content: by.content, under, since: this.#takenUpAt });
  }

  /** Answers what later processes need to know. */
  begin(view: PhaseView): SetState | undefined {
    const { traceparent: place } = this.#stretchOf(view);
    return place === "" ? undefined : traceparent.set(place);
  }

  beginStep(view: PhaseView): void {
    this.#stretchOf(view);
    this.#stepBegunAt = view.now;
  }

  takePiece(view: DeltaView): void {
    const { type, attempt, error } = view.delta;
    if (type === "message-begun") return this.#beginModel(view);
    if (this.#model?.attempt !== attempt) return;
    if (type === "message-retracted") {
      const { content } = this.#by;
      if (error) this.#model.span.fail(error.code, content ? said(error.message, content) : error.code);
      return this.#endModel(view.now, error === undefined);
    }
    if (this.#model.isFirstPieceSeen) return;
    this.#model.isFirstPieceSeen = true;
    this.#model.span.set({ [genAi.timeToFirstChunk]: (view.now - this.#model.span.at) / 1000 });
  }

  takeReply(view: ReplyView): void {
    this.#see(view);
    this.#model?.span.set(replyOf(view, this.#by.content));
    this.#endModel(view.now, false);
  }

  beginCall(view: CallPhaseView): void {
    this.#see(view);
    this.#calls.begin(view);
  }

  endCall(view: CallPhaseView): void {
    this.#see(view);
    this.#calls.end(view);
  }

  takeDecision(view: DecisionView): void {
    this.#stretchOf(view);
    this.#see(view);
    if (isActedOn(view)) return; // T2
    const { ticket, at } = view;
    const name = `wait ${ticket.kind}`;
    const attributes = waitOf(view, this.#by.content);
    this.#by.open({ name, at: ticket.openedAt, under: this.#origin, attributes }).end(at);
  }

  takeCancel(view: PhaseView): void {
    this.#stretchOf(view);
    this.#see(view);
  }

  endStep(view: PhaseView): void {
    this.#endCalls(view);
    this.#closeStep(view.now);
  }

  end(view: EndView): void {
    const stretch = this.#stretchOf(view);
    this.#endCalls(view);
    endRun(stretch, view, this.#by.content);
    this.#closeAll(view.now);
  }

  /** T3. */
  leave(): void {
    this.#closeAll(this.#by.run.now());
  }

  #stretchOf(view: PhaseView): OpenSpan {
    if (this.#stretch) return this.#stretch;
    const { run, open, parent } = this.#by;
    const origin = readTraceparent(view.state.get(traceparent));
    const isFirst = view.phase === "before-run" || run.foundAs === "created";
    const operation = isFirst ? operations.invokeAgent : operations.resumeAgent;
    const span = open({
      name: `${operation} ${run.agent}`,
      at: this.#takenUpAt,
      under: origin ?? (isFirst ? parent() : undefined) ?? ROOT_CONTEXT,
      attributes: {
        [genAi.operation]: operation,
        ...requestOf(run),
        ...(isFirst ? {} : { [ours.resumeReason]: resumeReason(view) }),
      },
    });
    this.#origin = origin ?? span.context; // T1
    this.#stretch = span;
    return span;
  }

  /** Opened by the first thing in it: a step that never came to anything has no span. */
  #stepOf(view: PhaseView): OpenSpan {
    if (this.#step?.number === view.step) return this.#step.span;
    const under = this.#stretchOf(view).context;
    const at = this.#stepBegunAt ?? this.#takenUpAt;
    const attributes = { [ours.step]: view.step };
    const span = this.#by.open({ name: `step ${view.step}`, at, under, attributes });
    this.#step = { number: view.step, span };
    return span;
  }

  #see({ step, stepsEnded }: PhaseView): void {
    if (stepsEnded < step) this.#stepSeen = step;
  }

  #beginModel(view: DeltaView): void {
    this.#see(view);
    this.#endModel(view.now, true);
    const { run, open, content } = this.#by;
    const span = open({
      name: `${operations.chat} ${run.model.model}`,
      at: view.now,
      under: this.#stepOf(view).context,
      isClient: true,
      attributes: {
        [genAi.operation]: operations.chat,
        [ours.attempt]: view.delta.attempt,
        ...requestOf(run),
        ...(content ? { [genAi.inputMessages]: inputMessages(view.messages, content) } : {}),
      },
    });
    this.#model = { span, attempt: view.delta.attempt, isFirstPieceSeen: false };
  }

  #endModel(at: number, isUnfinished: boolean): void {
    const span = this.#model?.span;
    this.#model = undefined;
    if (isUnfinished) span?.set({ [ours.unfinished]: true });
    span?.end(at);
  }

  #endCalls(view: PhaseView): void {
    const isSeen = this.#stepSeen === view.step;
    this.#stepSeen = undefined;
    if (isSeen) this.#calls.endAll(view); // T2
  }

  #closeStep(at: number): void {
    const span = this.#step?.span;
    this.#step = undefined;
    this.#stepBegunAt = undefined;
    span?.end(at);
  }

  #closeAll(at: number): void {
    this.#endModel(at, true);
    this.#calls.leave(at);
    this.#closeStep(at);
    this.#stretch?.end(at);
    this.#stretch = undefined;
  }
}

function resumeReason({ run, phase }: PhaseView): string {
  if (run.foundAs !== "waiting") return "takeover";
  if (phase === "on-decision") return "decision";
  return phase === "on-cancel" ? "cancel" : "wake";
}

/** A decision is shown in every process of its step. What the run has acted on, an earlier one has told. */
function isActedOn({ ticket, calls, messages }: DecisionView): boolean {
  const call = calls.find(({ id }) => id === ticket.call);
  if (!call) return false;
  if (ticket.kind !== "unknown-outcome" && call.attempt > 0) return true;
  return messages.some(({ parts }) => parts.some((part) => part.type === "tool-result" && part.call === call.id));
}
