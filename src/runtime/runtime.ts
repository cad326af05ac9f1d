/** The runtime's public shape: what a user of `createRuntime` holds. */
import type { Agent } from "../domain/agent.ts";
import type { TicketTerms } from "../domain/approval.ts";
import type { PolicyRef } from "../domain/command.ts";
import type { Manifest } from "../domain/declared-manifest.ts";
import type { Delta, MessagePartial, MessageRetracted } from "../domain/delta.ts";
import type { ErrorRecord, RetryClass } from "../domain/errors.ts";
import type { RunEvent } from "../domain/event.ts";
import type { EventFilter } from "../domain/event-filter.ts";
import type { InputId, RunId, ThreadId, TicketId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import type { ManifestDifference } from "../domain/manifest-diff.ts";
import type { Overrides } from "../domain/overrides.ts";
import type { RunStatus, RunUsage, StoppedRun } from "../domain/run.ts";
import type { RunView, Spent } from "../domain/run-view.ts";
import type { Decision, EngineDecision, PathStep, TicketCall, TicketKind } from "../domain/ticket.ts";
import type { Tool } from "../domain/tool.ts";
import type { EvidenceRow } from "../ports/store.ts";
import type { ListedRun } from "../ports/thread-store.ts";
import type { Contents } from "./content.ts";
import type { RuntimeMetrics } from "./metrics.ts";
import type { NewMessage, NewPart } from "./new-message.ts";
import type { Page, PageOptions } from "./pages.ts";
import type { StateOptions, StateSnapshot } from "./state.ts";
import type { Task } from "./tasks.ts";
import type { Threads } from "./thread-shapes.ts";

export interface StartOptions<Context = unknown> {
  /** The conversation; a new one unless said. */
  readonly thread?: string;
  /** Idempotency key, unique per scope: the same key and request give the same run. */
  readonly key?: string;
  /**
   * When the thread has a run that is not done. Unless said: behind a running one it queues, an open question is
   * answered by it, and any other wait refuses it by name. `steer` gives it to the run that is there.
   */
  readonly whenBusy?: "queue" | "steer" | "interrupt" | "supersede" | "reject";
  /** Who starts it; recorded where the start ends or answers something. */
  readonly by?: string;
  /** What the agent's context schema asks for. */
  readonly context?: Context;
  /** What is asked of the model otherwise than the agent does, for this run. Recorded, so no place for secrets. */
  readonly overrides?: Overrides;
  /** From -2 to 2, 0 unless said: higher ones are claimed first, always. */
  readonly priority?: number;
  /** Milliseconds since 1970, store time: it does not start before. It holds its place on the thread meanwhile. */
  readonly startAt?: number;
}

/** Durable events carry the cursor to go on from; live ones do not. */
export type WatchEvent =
  | (RunEvent & { readonly cursor: string })
  | Delta
  | MessagePartial
  | MessageRetracted
  /** Some live pieces, or erased history, were passed over; durable events go on from `cursor`. */
  | { readonly type: "resync"; readonly reason: "slow" | "erased"; readonly cursor: string };

export interface WatchOptions {
  /** Begin after this cursor; from the first event unless said. */
  readonly after?: string | undefined;
  /** Leave out what has happened already; only without a cursor. */
  readonly from?: "now";
  /** end: stop after run-ended · idle: also when the run waits. Across runs: watch until the signal says so. */
  readonly until?: "end" | "idle";
  /** false: the same events, with a mark wherever somebody's words or values would be. true unless said. */
  readonly content?: boolean;
  readonly signal?: AbortSignal;
}

export type StartInput = string | readonly NewPart[] | readonly NewMessage[];

interface ResultFacts {
  readonly run: RunId;
  readonly steps: number;
  readonly usage: RunUsage;
  /** Only of a run with a budget of tokens or money. More than the budget says: the provider reported more than was held. */
  readonly spent?: Spent;
}

/** A value for every outcome; nothing to parse. */
export type RunResult<Output = string> = ResultFacts &
  (
    | { readonly outcome: "completed"; readonly output: Output; readonly reason: "natural" | "requested" }
    | { readonly outcome: "stopped"; readonly code: string; readonly detail?: string }
    | { readonly outcome: "blocked"; readonly reason: string; readonly code?: string; readonly policy?: PolicyRef }
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

/** Of an answer to a ticket. */
export interface AnswerOptions extends ActOptions {
  /** What they are, as your own sign-in says; compared with the ticket's audience, and recorded. */
  readonly roles?: readonly string[];
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
  /** Resolves when the run waits on someone or is done. One whose delegate is at work does neither; their tickets are its too. */
  idle(options?: WaitOptions): Promise<Idle<Output>>;
  /** Resolves once, when the run is done, across waits, restarts and processes. */
  result(options?: WaitOptions): Promise<RunResult<Output>>;
  /** The output of a completed run; throws for any other outcome. */
  output(options?: WaitOptions): Promise<Output>;
  /** Returns when the request is durable. */
  cancel(options?: ActOptions & { readonly reason?: string }): Promise<CancelReceipt<Output>>;
  /** What works beside it or has: background delegates, the oldest first. One is cancelled as any run, by its id. */
  tasks(): Promise<readonly Task[]>;
  /** Every durable event after the cursor, then live, until the run has ended. No gap, no duplicate. */
  watch(options?: WatchOptions): AsyncIterable<WatchEvent>;
  /** The run-ended event, once there is one. */
  terminalEvent(): Promise<RunEvent | undefined>;
  /** Its state keys, now or as of a cursor. */
  state(options?: StateOptions): Promise<StateSnapshot>;
  /** Gives the run a message, read at its next step or natural end. */
  send(input: StartInput, options?: ActOptions): Promise<SentInput>;
  /** What was learned about it after its end, or could not be delivered; the oldest first. */
  evidence(): Promise<readonly EvidenceRow[]>;
  /**
   * Tells sinks once more what was given up: each message under its own key, once for each time it was given up. Answers how
   * many are on their way; where the first answer was lost, fewer than there are.
   */
  retell(options?: RetellOptions): Promise<number>;
  /** The run stops at its next quiet moment and waits on a pause ticket. */
  pause(options?: ActOptions & { readonly reason?: string }): Promise<void>;
}

export interface RetellOptions {
  /** Only what this sink was to be told. */
  readonly sink?: string;
  /** Who wants it; recorded. */
  readonly by?: string;
}

export interface CancelReceipt<Output = string> {
  /** Resolves when the run has ended; it may have ended otherwise first. However often it is asked, it says the same. */
  receipt(options?: WaitOptions): Promise<RunResult<Output> & Stopped>;
}

export interface Stopped {
  /** What became of the runs below it that were asked to end with it, at any depth; empty when there were none. */
  readonly descendants: readonly StoppedRun[];
}

/** An input that can be taken back or changed until the run has read it. */
export interface SentInput {
  readonly id: InputId;
  withdraw(options?: ActOptions): Promise<void>;
  edit(input: StartInput, options?: ActOptions): Promise<SentInput>;
}

/** The one answer that counted, as every caller gets it. */
export interface Settlement {
  readonly decision: Decision;
  readonly by: string;
  readonly at: number;
  readonly mine: boolean;
}

interface TicketFacts<Kind extends TicketKind> extends TicketTerms {
  readonly kind: Kind;
  readonly id: TicketId;
  readonly run: RunId;
  readonly rootRun: RunId;
  readonly thread: ThreadId;
  readonly agent: string;
  /** The delegations above its run, the root's first; absent for a root. */
  readonly path?: readonly PathStep[];
  readonly prompt: string;
  readonly hash: string;
  readonly problem?: string;
  /** The policy that asks. */
  readonly policy?: PolicyRef;
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
  /** The answer that is asked about, where the policy's output stage asks; while the ticket is open. */
  readonly output?: string;
  approve(options?: AnswerOptions & { readonly value?: JsonValue }): Promise<Settlement>;
  /** Replaces the whole input; checked against the tool's schema before it is sent. */
  edit(input: Input, options?: AnswerOptions): Promise<Settlement>;
  reject(reason: string, options?: AnswerOptions): Promise<Settlement>;
  /** The value is the result; the tool does not run. */
  answer(value: Output, options?: AnswerOptions): Promise<Settlement>;
}

export interface InputTicket<Input = JsonValue, Output = unknown> extends TicketFacts<"input">, CallFacts<Input> {
  answer(value: Output, options?: AnswerOptions): Promise<Settlement>;
}

/** The other side of a run that executes elsewhere wants to be let in somewhere; what it says is the prompt. */
export interface AuthTicket extends TicketFacts<"auth"> {
  answer(value: JsonValue, options?: AnswerOptions): Promise<Settlement>;
}

export interface UnknownOutcomeTicket<Input = JsonValue, Output = unknown>
  extends TicketFacts<"unknown-outcome">,
    CallFacts<Input> {
  markDone(result: Output, options?: AnswerOptions): Promise<Settlement>;
  markFailed(reason: string, options?: AnswerOptions): Promise<Settlement>;
  /** With a new idempotency key. */
  runAgain(options?: AnswerOptions): Promise<Settlement>;
  cancelRun(options?: AnswerOptions): Promise<Settlement>;
}

export interface PauseTicket extends TicketFacts<"pause"> {
  release(options?: AnswerOptions): Promise<Settlement>;
  cancelRun(options?: AnswerOptions): Promise<Settlement>;
}

export interface QuarantinedTicket extends TicketFacts<"quarantined"> {
  release(options?: AnswerOptions): Promise<Settlement>;
  cancelRun(options?: AnswerOptions): Promise<Settlement>;
}

/** No worker has the agent. A worker that has it takes the run up by itself. */
export interface MissingCapabilityTicket extends TicketFacts<"missing-capability"> {
  release(options?: AnswerOptions): Promise<Settlement>;
  cancelRun(options?: AnswerOptions): Promise<Settlement>;
}

/** Settled by the engine when its time comes. */
export interface TimerTicket extends TicketFacts<"timer"> {
  readonly dueAt: number;
}

export type CallTicket<Input = JsonValue, Output = unknown> =
  | ApprovalTicket<Input, Output>
  | InputTicket<Input, Output>
  | UnknownOutcomeTicket<Input, Output>;

/** Settled by the end of the run that a delegate's call is. What that run waits on is its own tickets. */
export interface ChildTicket extends TicketFacts<"child">, CallFacts<JsonValue> {
  readonly child: { readonly run: RunId; readonly agent: string };
}

/** Settled by the end of a background task. What its run waits on is its own tickets. */
export interface BackgroundTicket extends TicketFacts<"background">, CallFacts<JsonValue> {
  readonly child: { readonly run: RunId; readonly agent: string };
}

export type Ticket =
  | CallTicket
  | AuthTicket
  | PauseTicket
  | QuarantinedTicket
  | MissingCapabilityTicket
  | TimerTicket
  | ChildTicket
  | BackgroundTicket;

export interface ListTickets {
  readonly status?: "open" | "decided";
  readonly run?: string;
  /** Tickets of this run and of all runs below it. */
  readonly root?: string;
  readonly thread?: string;
  readonly kind?: TicketKind;
  readonly limit?: number;
}

export type TicketsOf<T, Kind extends TicketKind = TicketKind> = Extract<
  T extends Tool<infer Input, infer Output> ? CallTicket<Input, Output> : Ticket,
  { readonly kind: Kind }
>;

export type OfferedDecision = Exclude<Decision, EngineDecision>;

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
  decide(id: string, answer: OfferedDecision & AnswerOptions & { readonly hash: string }): Promise<Settlement>;
}

export interface ListRuns {
  readonly thread?: string;
  /** Runs that this one has started through its delegates. */
  readonly parent?: string;
  readonly agent?: string;
  readonly status?: RunStatus;
}

export interface ForkOptions {
  /** The fork goes on as if this step had not been made yet. */
  readonly atStep: number;
  readonly key?: string;
  /** Besides those of the run, field by field. */
  readonly overrides?: Overrides;
}

export interface PruneOptions {
  /** Runs that ended before this time go; a date, or milliseconds. */
  readonly finishedBefore: Date | number;
  /** Most runs to erase now; 100 unless said. */
  readonly limit?: number;
}

export interface Runs {
  /** A handle; asks the store only when it is used. */
  get(id: string): Run<JsonValue | string>;
  get<Output>(id: string, agent: Agent<Output>): Run<Output>;
  list(options?: ListRuns & PageOptions): Promise<Page<ListedRun>>;
  count(filter?: ListRuns): Promise<number>;
  /** What decides the run's behaviour now, and its fingerprint. */
  manifest(id: string): Promise<Manifest>;
  /** What of it differs between two runs, in words; empty for runs with the same fingerprint. */
  diff(a: string, b: string): Promise<readonly ManifestDifference[]>;
  /** A new run on a new thread, with new keys, from the messages before that step; its lineage is recorded. */
  fork<Output>(id: string, agent: Agent<Output>, options: ForkOptions): Promise<Run<Output>>;
  fork(id: string, agent: string, options: ForkOptions): Promise<Run<JsonValue | string>>;
  /** Takes a finished run and everything of it away. */
  erase(id: string): Promise<void>;
  /**
   * Takes the oldest finished runs away, each whole, and answers which; none that is still to deliver something. Where the
   * first answer was lost on its way, what that one erased is not in the list.
   */
  prune(options: PruneOptions): Promise<readonly RunId[]>;
}

export interface Runtime {
  start<Output, Context>(
    agent: Agent<Output, Context>,
    input: StartInput,
    options?: StartOptions<Context>,
  ): Promise<Run<Output>>;
  /** By name: `"support"`, or `"support@2"` for a version of it. */
  start(agent: string, input: StartInput, options?: StartOptions): Promise<Run<JsonValue | string>>;
  /** start + result. */
  run<Output, Context>(
    agent: Agent<Output, Context>,
    input: StartInput,
    options?: StartOptions<Context> & WaitOptions,
  ): Promise<RunResult<Output>>;
  run(agent: string, input: StartInput, options?: StartOptions & WaitOptions): Promise<RunResult<JsonValue | string>>;
  /** What a run of this agent would be started with. */
  manifest(agent: Agent<unknown>): Manifest;
  readonly runs: Runs;
  /** Names of the sinks that this process delivers to. */
  readonly sinks: readonly string[];
  /** Names of the providers that agents' routes can begin with. */
  readonly providers: readonly string[];
  /** Large results, images and files, by their hash. */
  readonly content: Contents;
  readonly tickets: Tickets;
  readonly threads: Threads;
  /** Events of many runs, in an order that never changes once read. */
  watch(filter?: EventFilter, options?: Omit<WatchOptions, "until">): AsyncIterable<WatchEvent>;
  /** How this runtime and its store fare: plain numbers, cheap enough to ask every few seconds. */
  metrics(): Promise<RuntimeMetrics>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
