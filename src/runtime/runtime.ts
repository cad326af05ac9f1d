/** The runtime's public shape: what a user of `createRuntime` holds. */
import type { Agent } from "../domain/agent.ts";
import type { ErrorRecord, RetryClass } from "../domain/errors.ts";
import type { RunId, ThreadId, TicketId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import type { Message, Part } from "../domain/message.ts";
import type { Usage } from "../domain/run.ts";
import type { RunView } from "../domain/run-view.ts";
import type { Decision, TicketCall, TicketKind } from "../domain/ticket.ts";
import type { Tool } from "../domain/tool.ts";

export interface StartOptions<Context = unknown> {
  /** The conversation; a new one unless said. */
  readonly thread?: string;
  /** Idempotency key, unique per scope: the same key and request give the same run. */
  readonly key?: string;
  /** What the agent's context schema asks for. */
  readonly context?: Context;
}

export type StartInput = string | readonly Part[] | readonly Message[];

interface ResultFacts {
  readonly run: RunId;
  readonly steps: number;
  readonly usage: Usage;
}

/** A value for every outcome; nothing to parse. */
export type RunResult<Output = string> = ResultFacts &
  (
    | { readonly outcome: "completed"; readonly output: Output; readonly reason: "natural" | "requested" }
    | { readonly outcome: "stopped"; readonly code: string; readonly detail?: string }
    | { readonly outcome: "blocked"; readonly reason: string }
    | { readonly outcome: "cancelled"; readonly reason?: string }
    | { readonly outcome: "failed"; readonly error: ErrorRecord; readonly retry: RetryClass }
    | { readonly outcome: "timed-out" }
  );

export type Idle<Output = string> =
  | { readonly status: "waiting"; readonly tickets: readonly Ticket[] }
  | { readonly status: "done"; readonly result: RunResult<Output> };

export interface WaitOptions {
  readonly signal?: AbortSignal;
}

export interface ActOptions {
  /** Who does it; recorded. */
  readonly by?: string;
  /** Idempotency key of this act; the same key gives the first answer. */
  readonly key?: string;
}

export interface Run<Output = string> {
  readonly id: RunId;
  /** Reads once. */
  status(): Promise<RunView>;
  /** Resolves when the run waits on someone or is done. */
  idle(options?: WaitOptions): Promise<Idle<Output>>;
  /** Resolves once, when the run is done, across waits, restarts and processes. */
  result(options?: WaitOptions): Promise<RunResult<Output>>;
  /** The output of a completed run; throws for any other outcome. */
  output(options?: WaitOptions): Promise<Output>;
  /** Returns when the request is durable. */
  cancel(options?: ActOptions & { readonly reason?: string }): Promise<CancelReceipt<Output>>;
  /** The run stops at its next quiet moment and waits on a pause ticket. */
  pause(options?: ActOptions & { readonly reason?: string }): Promise<void>;
}

export interface CancelReceipt<Output = string> {
  /** Resolves when the run has ended; it may have ended otherwise first. */
  receipt(options?: WaitOptions): Promise<RunResult<Output>>;
}

/** The one answer that counted, as every caller gets it. */
export interface Settlement {
  readonly decision: Decision;
  readonly by: string;
  readonly at: number;
  readonly mine: boolean;
}

interface TicketFacts<Kind extends TicketKind> {
  readonly kind: Kind;
  readonly id: TicketId;
  readonly run: RunId;
  readonly rootRun: RunId;
  readonly thread: ThreadId;
  readonly agent: string;
  readonly prompt: string;
  readonly hash: string;
  readonly problem?: string;
  readonly openedAt: number;
  readonly decidableFrom?: number;
  readonly expiresAt?: number;
  readonly dueAt?: number;
  readonly settlement?: Omit<Settlement, "mine">;
}

interface CallFacts<Input> {
  readonly tool: string;
  readonly input: Input;
  readonly call: TicketCall;
}

export interface ApprovalTicket<Input = JsonValue, Output = unknown> extends TicketFacts<"approval">, CallFacts<Input> {
  approve(options?: ActOptions & { readonly value?: JsonValue }): Promise<Settlement>;
  /** Replaces the whole input; checked against the tool's schema before it is sent. */
  edit(input: Input, options?: ActOptions): Promise<Settlement>;
  reject(reason: string, options?: ActOptions): Promise<Settlement>;
  /** The value is the result; the tool does not run. */
  answer(value: Output, options?: ActOptions): Promise<Settlement>;
}

export interface InputTicket<Input = JsonValue, Output = unknown> extends TicketFacts<"input">, CallFacts<Input> {
  answer(value: Output, options?: ActOptions): Promise<Settlement>;
}

export interface UnknownOutcomeTicket<Input = JsonValue, Output = unknown>
  extends TicketFacts<"unknown-outcome">,
    CallFacts<Input> {
  markDone(result: Output, options?: ActOptions): Promise<Settlement>;
  markFailed(reason: string, options?: ActOptions): Promise<Settlement>;
  /** With a new idempotency key. */
  runAgain(options?: ActOptions): Promise<Settlement>;
  cancelRun(options?: ActOptions): Promise<Settlement>;
}

export interface PauseTicket extends TicketFacts<"pause"> {
  release(options?: ActOptions): Promise<Settlement>;
  cancelRun(options?: ActOptions): Promise<Settlement>;
}

export interface QuarantinedTicket extends TicketFacts<"quarantined"> {
  release(options?: ActOptions): Promise<Settlement>;
  cancelRun(options?: ActOptions): Promise<Settlement>;
}

/** Settled by the engine when its time comes. */
export interface TimerTicket extends TicketFacts<"timer"> {
  readonly dueAt: number;
}

export type CallTicket<Input = JsonValue, Output = unknown> =
  | ApprovalTicket<Input, Output>
  | InputTicket<Input, Output>
  | UnknownOutcomeTicket<Input, Output>;

export type Ticket = CallTicket | PauseTicket | QuarantinedTicket | TimerTicket;

export interface ListTickets {
  readonly status?: "open" | "decided";
  readonly run?: string;
  readonly thread?: string;
  readonly kind?: TicketKind;
  readonly limit?: number;
}

export type TicketsOf<T, Kind extends TicketKind = TicketKind> = Extract<
  T extends Tool<infer Input, infer Output> ? CallTicket<Input, Output> : Ticket,
  { readonly kind: Kind }
>;

export type OfferedDecision = Exclude<Decision, { kind: "elapsed" | "closed" }>;

export interface Tickets {
  /** Typed by the tool, and by the kind where one is asked for. */
  list<T extends Tool, Kind extends TicketKind = TicketKind>(
    filter: ListTickets & { readonly tool: T; readonly kind?: Kind },
  ): Promise<readonly TicketsOf<T, Kind>[]>;
  list<Kind extends TicketKind>(
    filter: ListTickets & { readonly kind: Kind },
  ): Promise<readonly Extract<Ticket, { readonly kind: Kind }>[]>;
  list(filter?: ListTickets): Promise<readonly Ticket[]>;
  get(id: string): Promise<Ticket | undefined>;
  /** By id of the ticket or of its call; `hash` is what the answerer was shown. */
  decide(id: string, answer: OfferedDecision & ActOptions & { readonly hash: string }): Promise<Settlement>;
}

export interface Runs {
  /** A handle; asks the store only when it is used. */
  get(id: string): Run<JsonValue | string>;
  get<Output>(id: string, agent: Agent<Output>): Run<Output>;
}

export interface Runtime {
  start<Output, Context>(
    agent: Agent<Output, Context>,
    input: StartInput,
    options?: StartOptions<Context>,
  ): Promise<Run<Output>>;
  /** start + result. */
  run<Output, Context>(
    agent: Agent<Output, Context>,
    input: StartInput,
    options?: StartOptions<Context> & WaitOptions,
  ): Promise<RunResult<Output>>;
  readonly runs: Runs;
  readonly tickets: Tickets;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
