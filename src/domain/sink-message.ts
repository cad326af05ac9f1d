/**
 * What sinks are told of a run: its output, and that it has ended. Values and codes only: what people, models and tools
 * said, error texts and reasons stay in the journal, for those who may read the run.
 */
import type { RetryClass } from "./errors.ts";
import type { RunId, Scope, ThreadId } from "./ids.ts";
import type { JsonValue } from "./json.ts";
import type { Outcome, RunUsage } from "./run.ts";
import type { RunState } from "./run-state.ts";

interface SinkFacts {
  readonly scope: Scope;
  readonly run: RunId;
  readonly thread: ThreadId;
  readonly agent: string;
  /** Store time of the end, as the worker that wrote it saw it. */
  readonly at: number;
}

export type SinkMessage = SinkFacts &
  (
    | { readonly type: "output"; readonly output: JsonValue }
    | {
        readonly type: "run-ended";
        readonly outcome: SinkOutcome;
        readonly steps: number;
        readonly usage: RunUsage;
      }
  );

export type SinkOutcome =
  | { readonly kind: "completed"; readonly reason: "natural" | "requested" }
  | { readonly kind: "stopped"; readonly code: string }
  | { readonly kind: "blocked"; readonly code?: string }
  | { readonly kind: "cancelled" | "timed-out" }
  | { readonly kind: "failed"; readonly code: string; readonly retry: RetryClass };

/** O1: the output only of a run that has completed with one that has passed. */
export function messagesOf(state: RunState, at: number): readonly SinkMessage[] {
  const { created, outcome, output, stepsEnded, usage } = state;
  if (!outcome) return [];
  const { scope, run, thread, agent } = created.identity;
  const facts = { scope, run, thread, agent, at };
  const ended: SinkMessage = { type: "run-ended", ...facts, outcome: withoutTexts(outcome), steps: stepsEnded, usage };
  if (outcome.kind !== "completed" || !output) return [ended];
  return [{ type: "output", ...facts, output: output.value }, ended];
}

function withoutTexts(outcome: Outcome): SinkOutcome {
  switch (outcome.kind) {
    case "completed":
      return { kind: "completed", reason: outcome.reason };
    case "stopped":
      return { kind: "stopped", code: outcome.code };
    case "failed":
      return { kind: "failed", code: outcome.error.code, retry: outcome.retry };
    case "blocked":
      return { kind: "blocked", ...(outcome.code === undefined ? {} : { code: outcome.code }) };
    case "cancelled":
    case "timed-out":
      return { kind: outcome.kind };
    default:
      return outcome satisfies never;
  }
}
