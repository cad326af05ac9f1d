/** What the loop works on: facts taken but not yet committed, and orders that a commit has allowed. */
import type { RemoteIntent } from "../domain/backend/remote-turn.ts";
import type { BackendResult, RemoteTask } from "../domain/backend/result.ts";
import type { SetState } from "../domain/command.ts";
import type { FinishReason, Settled, Verdict } from "../domain/entry.ts";
import type { ErrorRecord, RetryClass } from "../domain/errors.ts";
import type { CallId, EffectId, MessageId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import type { CallResult, Part } from "../domain/message.ts";
import type { PricedAnswerer } from "../domain/model.ts";
import type { OutputReport } from "../domain/output.ts";
import type { Overrides } from "../domain/overrides.ts";
import type { Phase } from "../domain/phase.ts";
import type { Outcome, Usage } from "../domain/run.ts";
import type { CallState, RunState } from "../domain/run-state.ts";
import type { Ran } from "./asked-hook.ts";

export type ModelOutcome =
  | {
      readonly kind: "reply";
      readonly parts: readonly Part[];
      readonly finish: FinishReason;
      /** Missing: the provider did not count. */
      readonly usage?: Usage;
      /** Of a model that stands for several. */
      readonly answeredBy?: PricedAnswerer;
      /** Its stream broke off. */
      readonly cut?: ErrorRecord;
    }
  | {
      readonly kind: "failed";
      readonly error: ErrorRecord;
      readonly retry: RetryClass;
      readonly retryAfterMs?: number;
      /** Something of an answer had come. */
      readonly begun?: boolean;
      /** What of this attempt can be gone on from. */
      readonly kept?: readonly Part[];
    }
  | { readonly kind: "aborted" }
  | { readonly kind: "not-made" };

export type TurnOutcome =
  | { readonly kind: "result"; readonly result: BackendResult; readonly tookMs: number }
  | { readonly kind: "failed"; readonly error: ErrorRecord; readonly retry: RetryClass }
  | { readonly kind: "unknown"; readonly why: string; readonly decidableFrom: number }
  /** The other side has nothing of it. */
  | { readonly kind: "absent" }
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
      /** What its code wrote of state keys. */
      readonly writes?: readonly SetState[];
    }
  | {
      readonly kind: "turn-settled";
      readonly effect: EffectId;
      readonly attempt: number;
      readonly outcome: TurnOutcome;
    }
  /** A turn has become a task at the other side. */
  | {
      readonly kind: "task-seen";
      readonly effect: EffectId;
      readonly attempt: number;
      readonly task: RemoteTask;
      /** Whoever saw it waits for this: it is committed, or will never be by this process. */
      readonly told: (isKept: boolean) => void;
    }
  | {
      readonly kind: "abort-settled";
      readonly effect: EffectId;
      readonly attempt: number;
      readonly problem?: string;
    }
  | { readonly kind: "judged"; readonly call: CallId; readonly verdict: Verdict }
  | { readonly kind: "output-checked"; readonly step: number; readonly report: OutputReport }
  | { readonly kind: "phase-ran"; readonly order: PhaseOrder; readonly ran: Ran };

/** A transactional call is ready: what it does and its settlement will be one commit. Nothing has happened yet. */
export interface PreparedFact {
  readonly kind: "tool-prepared";
  readonly effect: EffectId;
  readonly attempt: number;
  readonly call: CallId;
  readonly tool: string;
  readonly timeoutMs: number;
  readonly apply: (tx: unknown) => unknown;
  /** What its code has written of state keys so far. */
  readonly writes: () => readonly SetState[];
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
  /** The longest answer that is wanted and can be paid for. */
  readonly maxOutputTokens?: number;
  /** As the intent has them. */
  readonly overrides?: Overrides;
}

/** An order together with the state it was decided on and the way to abort it. */
export interface Performance<Wanted> {
  readonly order: Wanted;
  readonly state: RunState;
  readonly controller: AbortController;
}

/** What is old is to be summarised, up to this message. */
export interface CompactionOrder extends AttemptOrder {
  readonly kind: "compaction";
  readonly upTo: MessageId;
  readonly maxOutputTokens: number;
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

/** One turn of a run that executes elsewhere. */
export interface TurnOrder extends AttemptOrder {
  readonly kind: "remote";
  readonly remote: RemoteIntent;
}

/** The other side is to end what it may still do for this run. */
export interface AbortOrder extends AttemptOrder {
  readonly kind: "remote-abort";
}

/** A lost turn: what became of it at the other side. A read. */
export interface LookOrder {
  readonly kind: "look";
  readonly effect: EffectId;
  readonly attempt: number;
  readonly timeoutMs: number;
  /** Before this time "nothing" may only mean "nothing yet". */
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

/** Plugins are to be asked. */
export interface PhaseOrder {
  readonly kind: "phase";
  readonly phase: Phase;
  /** Which moment of the run it is. */
  readonly id: string;
  readonly subject?: string;
  /** before-end only. */
  readonly outcome?: Outcome;
  /** after-tool only: what the tool answered. */
  readonly result?: CallResult;
}

/** The answer of a step is to be the output. */
export interface CheckOrder {
  readonly kind: "check-output";
  readonly step: number;
}

/** What may be done at once, before anything is written: it begins no effect. */
export type Question = JudgeOrder | PhaseOrder | CheckOrder;
export type EffectOrder =
  | ModelOrder
  | CompactionOrder
  | ToolOrder
  | ReconcileOrder
  | TurnOrder
  | AbortOrder
  | LookOrder;
export type Order = EffectOrder | Question;

export function isQuestion(order: Order): order is Question {
  return order.kind === "judge" || order.kind === "phase" || order.kind === "check-output";
}

/** Starting an order twice is starting it once. */
export function orderId(order: Order): string {
  switch (order.kind) {
    case "judge":
      return `judge:${order.call}:${order.round}`;
    case "check-output":
      return `check-output:${order.step}`;
    case "phase":
      return `phase:${order.id}`;
    case "look":
    case "reconcile":
      return `${order.kind}:${order.effect}:${order.attempt}`;
    default:
      return `${order.effect}:${order.attempt}`;
  }
}
