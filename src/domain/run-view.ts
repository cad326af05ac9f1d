/**
 * RunView: a run as a reader sees it. A pure projection of the fold with every field that the seeds keep of a
 * run's identity, request and record (XA-01, XA-02, XA-08, XA-09, XA-13). Times are milliseconds (D-01).
 */
import type { ErrorRecord } from "./errors.ts";
import type { MessageId, ThreadId, TicketId } from "./ids.ts";
import { usdOf } from "./ledger.ts";
import { present } from "./present.ts";
import type { ManifestRef, Outcome, RunIdentity, RunRequest, RunStatus } from "./run.ts";
import type { RunState } from "./run-state.ts";
import { type MessageRange, messageRange } from "./seed-tables/message-range.ts";
import { pointersAfter, type ThreadPointers } from "./seed-tables/thread-pointers.ts";
import type { TicketKind } from "./ticket.ts";

export interface RunView extends RunIdentity {
  readonly request: RequestView;
  readonly manifest: ManifestRef;
  readonly input?: InputView;
  readonly output?: OutputView;
  readonly status: RunStatus;
  /** Only of a run that is done; the seeds' termination and reason texts are derived from it. */
  readonly outcome?: Outcome;
  /** Only of a failed run. */
  readonly error?: ErrorRecord;
  /** Seq of the entry that holds the last assistant message. */
  readonly answer?: number;
  /** Only while the run waits. */
  readonly waiting?: WaitingView;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly finishedAt?: number;
  readonly updatedAt: number;
  readonly steps: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Replies whose provider did not count, so that their tokens are in neither sum; absent when there are none. */
  readonly uncountedReplies?: number;
  /** Only of a run with a budget of tokens or money. */
  readonly spent?: Spent;
  readonly cancelRequested: boolean;
  /** What the last write of this run says about its thread. */
  readonly pointers: ThreadPointers;
}

/** What a run has used up of its budget, what is held for calls in flight left out. */
export interface Spent {
  readonly tokens: number;
  readonly usd: number;
}

export function spentOf({ ledger }: RunState): Spent | undefined {
  return ledger && { tokens: ledger.spent.tokens, usd: usdOf(ledger.spent.microUsd) };
}

export interface RequestView extends RunRequest {
  readonly parentThread?: ThreadId;
  readonly transportRequest?: string;
  /** The seeds' request may bring both. Ours brings neither: a decision goes to its ticket (D-23), a frontend tool
   * is a tool of the manifest that has no code. */
  readonly decisions: readonly [];
  readonly frontendTools: readonly [];
}

export interface InputView {
  readonly thread: ThreadId;
  /** Absent until the run has started: a queued run does not know its place yet. */
  readonly range?: MessageRange;
  readonly triggerIds: readonly MessageId[];
}

/** Everything this run added after its input, messages steered into it included. */
export interface OutputView {
  readonly thread: ThreadId;
  readonly range: MessageRange;
}

export interface WaitingView {
  readonly tickets: readonly TicketId[];
  readonly reasons: readonly TicketKind[];
  /** The claim under which the wait began; the seeds' "since dispatch" (D-11). */
  readonly sinceEpoch: number | null;
}

export function viewRun(state: RunState): RunView {
  const identity = withoutBlanks(state.created.identity, optionalIds);
  const { run, thread } = identity;
  return {
    ...identity,
    request: viewRequest(state.created.request, identity),
    manifest: { fingerprint: state.manifest.fingerprint },
    ...present({ input: viewInput(state, thread), output: viewOutput(state, thread), waiting: viewWaiting(state) }),
    status: state.status,
    ...present({ outcome: state.outcome, error: errorOf(state.outcome), answer: state.answer }),
    createdAt: state.createdAt,
    ...present({ startedAt: state.startedAt, finishedAt: state.endedAt }),
    updatedAt: state.updatedAt,
    steps: state.stepsEnded,
    inputTokens: state.usage.inputTokens,
    outputTokens: state.usage.outputTokens,
    ...present({ uncountedReplies: state.usage.uncountedReplies, spent: spentOf(state) }),
    cancelRequested: state.cancel !== undefined,
    pointers: pointersAfter({}, { run, status: state.status }),
  };
}

function viewRequest(request: RunRequest, { parentThread, transportRequest }: RunIdentity): RequestView {
  const asked = withoutBlanks(request, ["sender"]);
  return { ...asked, ...present({ parentThread, transportRequest }), decisions: [], frontendTools: [] };
}

/** Written with run-created and placed by run-started; nothing later moves it (D-13). */
function viewInput(state: RunState, thread: ThreadId): InputView | undefined {
  if (state.inputCount === 0) return undefined;
  const started = state.startedAt !== undefined;
  const range = started ? messageRange(state.position + 1, state.position + state.inputCount) : undefined;
  return { thread, ...present({ range }), triggerIds: state.created.request.inputIds };
}

function viewOutput(state: RunState, thread: ThreadId): OutputView | undefined {
  const { firstOutput, lastOutput } = state;
  const range =
    firstOutput === undefined || lastOutput === undefined ? undefined : messageRange(firstOutput, lastOutput);
  return range && { thread, range };
}

function viewWaiting(state: RunState): WaitingView | undefined {
  if (state.status !== "waiting") return undefined;
  const reasons = new Set(state.tickets.map((ticket) => ticket.kind));
  return {
    tickets: state.tickets.map((ticket) => ticket.id),
    reasons: [...reasons],
    sinceEpoch: state.waitingSince ?? null,
  };
}

function errorOf(outcome: Outcome | undefined): ErrorRecord | undefined {
  return outcome?.kind === "failed" ? outcome.error : undefined;
}

const optionalIds = ["parentRun", "parentThread", "parentCall", "session", "transportRequest"] as const;

/** A blank id of somebody else's making is no id. */
function withoutBlanks<Fields extends object>(fields: Fields, names: readonly (keyof Fields & string)[]): Fields {
  const isBlank = ([name, value]: [string, unknown]): boolean =>
    names.some((each) => each === name) && typeof value === "string" && value.trim() === "";
  return Object.fromEntries(Object.entries(fields).filter((pair) => !isBlank(pair))) as Fields;
}
