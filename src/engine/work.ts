/** What the loop works on: facts taken but not yet committed, and orders that a commit has allowed. */
import type { FinishReason, Settled, Verdict } from "../domain/entry.ts";
import type { ErrorRecord, RetryClass } from "../domain/errors.ts";
import type { CallId, EffectId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import type { CallResult, Part } from "../domain/message.ts";
import type { Usage } from "../domain/run.ts";
import type { CallState } from "../domain/run-state.ts";

export type ModelOutcome =
  | {
      readonly kind: "reply";
      readonly parts: readonly Part[];
      readonly finish: FinishReason;
      readonly usage: Usage;
      /** By call index; undefined where the verdict has to be waited for. */
      readonly verdicts: readonly (Verdict | undefined)[];
    }
  | { readonly kind: "failed"; readonly error: ErrorRecord; readonly retry: RetryClass; readonly retryAfterMs?: number }
  | { readonly kind: "aborted" }
  | { readonly kind: "not-made" };

/** Something that has happened. It is offered again, unchanged, until a commit has taken it. */
export type Fact =
  | {
      readonly kind: "model-settled";
      readonly effect: EffectId;
      readonly attempt: number;
      readonly outcome: ModelOutcome;
    }
  | {
      readonly kind: "tool-settled";
      readonly effect: EffectId;
      readonly attempt: number;
      readonly call: CallId;
      readonly settled: Settled;
      readonly result?: CallResult;
    }
  | { readonly kind: "judged"; readonly call: CallId; readonly verdict: Verdict };

/** A transactional call is ready: what it does and its settlement will be one commit. Nothing has happened yet. */
export interface PreparedFact {
  readonly kind: "tool-prepared";
  readonly effect: EffectId;
  readonly attempt: number;
  readonly call: CallId;
  readonly tool: string;
  readonly timeoutMs: number;
  readonly apply: (tx: unknown) => unknown;
}

interface AttemptOrder {
  readonly effect: EffectId;
  readonly attempt: number;
  readonly step: number;
  readonly key: string;
  readonly startBy: number;
  /** `startBy` by this process's own count: what is looked at before the call. */
  readonly beginBy: number;
  readonly timeoutMs: number;
}

export interface ModelOrder extends AttemptOrder {
  readonly kind: "model";
}

export interface ToolOrder extends AttemptOrder {
  readonly kind: "tool";
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonValue;
  readonly decision: CallState["decision"];
}

/** A lost attempt of a tool that can be asked whether it took effect. */
export interface ReconcileOrder {
  readonly kind: "reconcile";
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonValue;
  readonly effect: EffectId;
  readonly attempt: number;
  readonly key: string;
  readonly timeoutMs: number;
  /** Before this time "not done" may only mean "not done yet". */
  readonly certainAt: number;
}

export interface JudgeOrder {
  readonly kind: "judge";
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonValue;
  readonly edited: boolean;
  /** Tickets asked so far: a new edit is a new question. */
  readonly round: number;
}

export type Order = ModelOrder | ToolOrder | ReconcileOrder | JudgeOrder;

/** Starting an order twice is starting it once. */
export function orderId(order: Order): string {
  switch (order.kind) {
    case "judge":
      return `judge:${order.call}:${order.round}`;
    case "reconcile":
      return `reconcile:${order.effect}:${order.attempt}`;
    default:
      return `${order.effect}:${order.attempt}`;
  }
}
