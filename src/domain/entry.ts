/**
 * Entry: one durable fact of a run. A closed union; feature data lives in typed bodies, not in new kinds.
 */
import type { ApprovalTerms } from "./approval.ts";
import type { RemoteIntent, RemoteSettlement } from "./backend/remote-turn.ts";
import type { GivenCommand, PolicyRef } from "./command.ts";
import type { DeclaredManifest } from "./declared-manifest.ts";
import type { ErrorRecord, RetryClass } from "./errors.ts";
import type { ContextDecision, HistoryMark } from "./history.ts";
import type { CallId, EffectId, Fingerprint, InputId, MessageId, RunId, ThreadId, TicketId } from "./ids.ts";
import type { JsonValue } from "./json.ts";
import type { Amount } from "./ledger.ts";
import type { CallErrorCode, CallResult, Message, Part } from "./message.ts";
import type { AnsweredBy } from "./model.ts";
import type { OutputReport } from "./output.ts";
import type { Overrides } from "./overrides.ts";
import type { Phase } from "./phase.ts";
import type { ManifestRef, Outcome, RunBudget, RunIdentity, RunRequest, StoppedRun, Usage } from "./run.ts";
import type { StateChanged } from "./state-slots.ts";
import type { Decision, PathStep, TicketKind, TicketRecord } from "./ticket.ts";

export interface RunCreated {
  readonly type: "run-created";
  readonly identity: RunIdentity;
  readonly request: RunRequest;
  readonly input: readonly Message[];
  readonly manifest: ManifestRef;
  readonly budget: RunBudget;
  readonly deadlineAt?: number;
  /** Not before this store time; at once unless said. */
  readonly startAt?: number;
  /** Higher ones are claimed first; 0 unless said. */
  readonly priority?: number;
  readonly context?: JsonValue;
  /** Who is told how it ends, by name; nobody unless said. */
  readonly sinks?: readonly string[];
  /** Of a delegate's run: who waits for it. */
  readonly delegated?: Delegated;
  /** Lineage of a fork: the run it was taken from, before that step. */
  readonly forkedFrom?: { readonly run: RunId; readonly step: number };
}
export interface Delegated {
  /** The parent's ticket, and the hash that an answer to it must carry. */
  readonly ticket: TicketId;
  readonly hash: string;
  /** The delegations above it, the root's first. */
  readonly path: readonly PathStep[];
}
export interface RunStarted {
  readonly type: "run-started";
  /** Messages that the thread held before this run's first one. */
  readonly position: number;
}
export interface RunWaiting {
  readonly type: "run-waiting";
  readonly tickets: readonly TicketId[];
  readonly reasons: readonly TicketKind[];
  /** Runs that are asked to end with it, from now on. */
  readonly stopping?: readonly Pick<StoppedRun, "run" | "agent">[];
}
export interface RunResumed {
  readonly type: "run-resumed";
}
export interface RunEnded {
  readonly type: "run-ended";
  readonly outcome: Outcome;
  /** Seq of the message-appended entry that holds the answer. */
  readonly answer?: number;
  /** It has completed without an answer: what the model said last was not let through as one. */
  readonly unsaid?: true;
  /** The run, born in the same commit, whose input is what this one has left unread. */
  readonly successor?: RunId;
  /** Of a run that was cancelled, or timed out in the queue: the inputs that end with it, read by nobody. */
  readonly unread?: readonly InputId[];
  /** What became of the runs below it that were asked to end with it. */
  readonly descendants?: readonly StoppedRun[];
}
export interface StepStarted {
  readonly type: "step-started";
  readonly step: number;
}
export interface StepEnded {
  readonly type: "step-ended";
  readonly step: number;
}
/** From here on the thread's calls begin at another place. Between two of these they only grow at their end. */
export interface ContextProjected {
  readonly type: "context-projected";
  readonly step: number;
  readonly mark: HistoryMark;
  /** Each message that was sent until now, or is sent from now on although it was not, and why. */
  readonly decisions: readonly ContextDecision[];
  /** About how many tokens the next call sends, and the most it may. */
  readonly tokens: number;
  readonly limit: number;
  /** For this run only: it was made for another model than its agent's, and says nothing of what the thread's next run can send. */
  readonly own?: true;
}
export interface EffectIntended {
  readonly type: "effect-intended";
  readonly effect: EffectId;
  /** remote: a turn of a run that executes elsewhere; remote-abort: the request to end what it began there. */
  readonly kind: "model" | "tool" | "child" | "compaction" | "remote" | "remote-abort" | "handoff";
  readonly step: number;
  readonly call?: CallId;
  readonly attempt: number;
  readonly key: string;
  /** Store time after which the attempt may not begin. */
  readonly startBy: number;
  readonly timeoutMs: number;
  /** Of a run with a budget of tokens or money: what the attempt may use up, and how long its answer may be. */
  readonly held?: Amount & { readonly outputTokens: number };
  /** Of a compaction: the last message that its summary is to stand for. */
  readonly upTo?: MessageId;
  /** Of a remote turn. */
  readonly remote?: RemoteIntent;
  /** Of a model call that asks otherwise than the agent does: the run's word and the step's, merged. */
  readonly overrides?: Overrides;
  /** Of kind child: the run that the call is. */
  readonly child?: ChildIntent;
  /** Of kind child, in a run with a budget of tokens or money: what is held for that run until it has ended. */
  readonly slice?: Amount;
}
export interface ChildIntent {
  readonly run: RunId;
  readonly thread: ThreadId;
  readonly agent: string;
  readonly budget: RunBudget;
  readonly deadlineAt?: number;
  readonly ephemeral?: true;
  /** The call is answered with a handle at once; how the run ended comes as a message. */
  readonly background?: true;
}
export interface EffectSettled {
  readonly type: "effect-settled";
  readonly effect: EffectId;
  readonly attempt: number;
  readonly result: Settled;
  /** What the tool itself answered, where plugins wait with it or gave the model something else. */
  readonly answered?: CallResult;
  /** The model's answer, where it was not let through in the same commit: until then nobody reads it. */
  readonly reply?: Message;
  /** Of an ephemeral child: its thread, which goes from here on. */
  readonly dropped?: ThreadId;
}

/** How one attempt ended. Only process death leaves an intent open; resume closes it as `lost`, `not-made` or `unknown`. */
export type Settled =
  | {
      readonly kind: "done";
      readonly message?: MessageId;
      readonly usage?: Usage;
      readonly finish?: FinishReason;
      readonly cost?: Amount;
      /** Of a model that stands for several: the one that answered. */
      readonly answeredBy?: AnsweredBy;
      /** Of a reply whose stream broke off after whole calls: why. */
      readonly cut?: ErrorRecord;
      /** Of a remote turn; `finish` is there only when the other side ended by itself. */
      readonly remote?: RemoteSettlement;
    }
  | {
      readonly kind: "failed";
      readonly error: ErrorRecord;
      readonly retry: RetryClass;
      readonly retryAt?: number;
      /** Something of an answer had come: it has cost something. */
      readonly begun?: true;
      /** All that has come of the reply so far; the next attempt goes on from there. */
      readonly kept?: readonly Part[];
      readonly usage?: Usage;
      readonly cost?: Amount;
      readonly answeredBy?: AnsweredBy;
    }
  | { readonly kind: "refused"; readonly code: CallErrorCode; readonly message: string }
  | { readonly kind: "not-made" }
  | { readonly kind: "lost" }
  | { readonly kind: "aborted" }
  | { readonly kind: "unknown"; readonly why: string; readonly decidableFrom: number };

export type FinishReason = "stop" | "tool-calls" | "length" | "content-filter" | "error" | "other";

export interface CallGated {
  readonly type: "call-gated";
  readonly call: CallId;
  readonly verdict: Verdict;
}
export type Verdict = {
  /** The plugin that said so; the tool itself where there is none. */
  readonly by?: string;
  /** The policy that was asked: whose verdict it is, or who has allowed it. */
  readonly policy?: PolicyRef;
} & (
  | {
      readonly kind: "allow";
      /** What the call runs with, where plugins changed it. */
      readonly input?: JsonValue;
    }
  | {
      readonly kind: "ask";
      readonly ticket: "approval" | "input";
      readonly prompt: string;
      /** Why the last answer was not taken. */
      readonly problem?: string;
      readonly terms?: ApprovalTerms;
      /** What is asked about, where plugins changed it. */
      readonly input?: JsonValue;
    }
  | {
      readonly kind: "refuse";
      readonly code: CallErrorCode;
      readonly message: string;
      readonly stop?: boolean;
      /** The code that a policy or plugin gave for it. */
      readonly reason?: string;
    }
  | { readonly kind: "result"; readonly result: CallResult }
);

/** A moment is over at which plugins asked for something. It is written once, with everything they asked for. */
export interface CommandApplied {
  readonly type: "command-applied";
  readonly phase: Phase;
  /** The call or ticket that the moment was about. */
  readonly subject?: string;
  /** In the order in which they were merged; state has entries of its own. */
  readonly commands: readonly GivenCommand[];
  /** Instead of commands: who failed. What follows is the phase's failure rule. */
  readonly failed?: PluginFailure;
}
export interface PluginFailure {
  readonly plugin: string;
  readonly policy?: PolicyRef;
  readonly error: ErrorRecord;
}

export interface MessageAppended {
  readonly type: "message-appended";
  readonly body: MessageBody;
  /** An answer that the output gate has let through, or what stands for one that it has not. */
  readonly gate?: "passed" | "withheld";
}
/** A body is stored once: here, or in the entry at `from` that brought it in. */
export type MessageBody =
  | { readonly kind: "here"; readonly message: Message }
  | { readonly kind: "created"; readonly index: number }
  | { readonly kind: "input"; readonly from: number; readonly input: InputId };

/** The report on an answer that was to be the output: the value, or what was wrong with it. */
export interface OutputValidated {
  readonly type: "output-validated";
  readonly step: number;
  readonly report: OutputReport;
  /** Not the output yet: the output gate is asked first, and once it has let it through, another one follows. */
  readonly pending?: true;
}

/** From here on the run is what its agent declares now, or another agent. */
export interface ManifestAmended {
  readonly type: "manifest-amended";
  readonly from: Fingerprint;
  readonly fingerprint: Fingerprint;
  /** Absent where it goes back to one that it had. */
  readonly declared?: DeclaredManifest;
  /** The run is handed to another agent, or back to the one before. */
  readonly handoff?: "over" | "back";
  /** Tools that are gone or no longer what they were: what was asked about them is asked again. */
  readonly changed: readonly string[];
}

export interface TicketOpened {
  readonly type: "ticket-opened";
  readonly ticket: TicketRecord;
}
export interface TicketDecided {
  readonly type: "ticket-decided";
  readonly ticket: TicketId;
  readonly decision: Decision;
  readonly by: string;
  /** What they said they are, where the ticket's audience was by role. */
  readonly roles?: readonly string[];
  readonly key: string;
}
export interface InputReceived {
  readonly type: "input-received";
  readonly input: InputId;
  readonly message: Message;
  readonly by: string;
  /** An edit: takes the place of an input that was not read yet. */
  readonly replaces?: InputId;
}
export interface InputWithdrawn {
  readonly type: "input-withdrawn";
  readonly input: InputId;
  readonly by: string;
}
export interface CancelRequested {
  readonly type: "cancel-requested";
  readonly by: string;
  readonly reason?: string;
  /** Another run takes the thread. */
  readonly instead?: "interrupted" | "superseded";
}
export interface PauseRequested {
  readonly type: "pause-requested";
  readonly by: string;
  readonly reason?: string;
}

/** What may come through the outside door, and nothing else. */
export type OutsideFact = TicketDecided | InputReceived | InputWithdrawn | CancelRequested | PauseRequested;

export type EntryBody =
  | RunCreated
  | RunStarted
  | RunWaiting
  | RunResumed
  | RunEnded
  | StepStarted
  | StepEnded
  | ContextProjected
  | EffectIntended
  | EffectSettled
  | CallGated
  | CommandApplied
  | StateChanged
  | MessageAppended
  | OutputValidated
  | ManifestAmended
  | TicketOpened
  | OutsideFact;

export type EntryType = EntryBody["type"];

export interface EntryStamp {
  /** Gapless per run, given by the store; run-created is 1. */
  readonly seq: number;
  readonly at: number;
  /** The claim that wrote it; null for the outside door and birth. */
  readonly epoch: number | null;
}

export type Entry = EntryStamp & EntryBody;
