/** Ticket, Decision, Settlement: what a run waits on, an answer offered, the one that counted. */
import type { OnExpiry, TicketTerms } from "./approval.ts";
import type { PolicyRef } from "./command.ts";
import type { CallId, RunId, ThreadId, TicketId } from "./ids.ts";
import type { JsonValue } from "./json.ts";
import type { Amount } from "./ledger.ts";
import type { Outcome, RunUsage, StoppedRun } from "./run.ts";

export type TicketKind =
  | "approval"
  | "input"
  | "auth"
  | "unknown-outcome"
  | "pause"
  | "timer"
  | "child"
  | "background"
  | "quarantined"
  | "missing-capability";

/** What a decision does with the call: run it, be its result, or be handed to its code. */
export type ResumeMode = "replay" | "use-decision-as-result" | "pass-decision-to-tool";

export interface TicketCall {
  readonly id: CallId;
  readonly tool: string;
  readonly version: string;
  readonly input: JsonValue;
  readonly resume: ResumeMode;
}

/** One delegation on the way from the root to where a ticket is. */
export interface PathStep {
  readonly run: RunId;
  readonly agent: string;
  /** The call that the next run on the way is. */
  readonly call: CallId;
  readonly delegate: string;
}

export interface TicketRecord extends TicketTerms {
  readonly id: TicketId;
  readonly kind: TicketKind;
  readonly run: RunId;
  readonly rootRun: RunId;
  readonly thread: ThreadId;
  readonly agent: string;
  /** The delegations above its run, the root's first; absent for a root. */
  readonly path?: readonly PathStep[];
  /** Of kind child or background: the run that is waited for. */
  readonly child?: { readonly run: RunId; readonly agent: string };
  /** 1 for the first ticket of its kind on its subject; an edit that did not fit opens the next. */
  readonly generation: number;
  /** Hash of exactly what is shown; an answer must carry it. */
  readonly hash: string;
  readonly prompt: string;
  readonly call?: TicketCall;
  /** The plugin that opened it or asked about the call, and how it named it if it did. */
  readonly plugin?: string;
  readonly name?: string;
  /** The policy that asks. */
  readonly policy?: PolicyRef;
  /** The answer that is asked about, as it would be published. */
  readonly output?: string;
  /** Why an earlier answer was not taken. */
  readonly problem?: string;
  readonly openedAt: number;
  /** Store time before which no answer counts: a lost attempt may still be running. */
  readonly decidableFrom?: number;
  readonly expiresAt?: number;
  /** Timers only: when the engine itself settles it. */
  readonly dueAt?: number;
}

export type Decision =
  | { readonly kind: "approve"; readonly value?: JsonValue }
  | { readonly kind: "edit"; readonly input: JsonValue }
  | { readonly kind: "reject"; readonly reason: string }
  | { readonly kind: "answer"; readonly value: JsonValue }
  | { readonly kind: "mark-done"; readonly result: JsonValue }
  | { readonly kind: "mark-failed"; readonly reason: string }
  | { readonly kind: "run-again" }
  | { readonly kind: "release" }
  | { readonly kind: "cancel-run" }
  | EngineDecision;

/** Only the engine, through the worker door. */
export type EngineDecision =
  | { readonly kind: "elapsed" }
  /** Nobody answered in time: what was said for that case. */
  | { readonly kind: "expired"; readonly counts: OnExpiry }
  | { readonly kind: "closed"; readonly why: ClosedWhy }
  | ChildEnded;

/** How the run ended that a delegate's call was. It comes through the outside door, by the outbox only. */
export interface ChildEnded {
  readonly kind: "child-ended";
  readonly run: RunId;
  readonly agent: string;
  readonly outcome: Outcome;
  /** Of a completed one: its output, or its last words. */
  readonly output?: JsonValue;
  readonly steps: number;
  readonly usage: RunUsage;
  /** Of one with a budget of tokens or money: what it has used up, with all that was below it. */
  readonly spent?: Amount;
  /** What became of the runs below it that it has asked to end. */
  readonly descendants?: readonly StoppedRun[];
}

/**
 * A ticket that the engine closed because nobody can answer it any more, because what was missing was found, or because
 * what it asked about has changed and is asked again.
 */
export type ClosedWhy = "cancelled" | "timed-out" | "run-ended" | "interrupted" | "superseded" | "found" | "amended";

export type DecisionKind = Decision["kind"];

/** The legal verbs of each kind; everything else is refused before it is posted. */
export const ticketVerbs: Readonly<Record<TicketKind, readonly DecisionKind[]>> = {
  approval: ["approve", "edit", "reject", "answer"],
  input: ["answer"],
  auth: ["answer"],
  "unknown-outcome": ["mark-done", "mark-failed", "run-again", "cancel-run"],
  pause: ["release", "cancel-run"],
  quarantined: ["release", "cancel-run"],
  "missing-capability": ["release", "cancel-run"],
  timer: [],
  child: [],
  background: [],
};

/** Of this ticket: an approval that is about no call has no input to change and no result to give. */
export function verbsOf({ kind, call }: Pick<TicketRecord, "kind" | "call">): readonly DecisionKind[] {
  return kind === "approval" && !call ? ["approve", "reject"] : ticketVerbs[kind];
}

export const engine = "engine";

/** The one answer that counted. */
export interface SettlementRecord {
  readonly ticket: TicketId;
  readonly decision: Decision;
  readonly by: string;
  readonly at: number;
  readonly key: string;
  readonly seq: number;
}
