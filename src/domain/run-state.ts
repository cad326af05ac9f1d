/** RunState: the fold of a run's journal. It holds only what is open; nothing in it grows with steps. */
import type { RemoteIntent } from "./backend/remote-turn.ts";
import type { RemoteTask } from "./backend/result.ts";
import type { RemoteWait } from "./backend/ruling.ts";
import type { PolicyRef } from "./command.ts";
import type { ChildIntent, EffectIntended, RunCreated, Settled, Verdict } from "./entry.ts";
import type { HistoryMark } from "./history.ts";
import type { CallId, EffectId, MessageId, TicketId } from "./ids.ts";
import type { JsonValue } from "./json.ts";
import type { Ledger } from "./ledger.ts";
import type { CallInput, CallResult, Message, Part } from "./message.ts";
import type { OutputReport } from "./output.ts";
import type { ContextSlot, PluginState, StepChanges } from "./plugin-state.ts";
import type { CancelRequest, ManifestRef, Outcome, PendingInput, RunStatus, RunUsage, StoppedRun } from "./run.ts";
import type { Slots } from "./state-slots.ts";
import type { ChildEnded, Decision, TicketRecord } from "./ticket.ts";

/** Changes whenever the shape or meaning below changes: older snapshots are then folded anew. */
export const foldVersion = 13;

export interface RunState {
  /** run-created without its message bodies. */
  readonly created: Omit<RunCreated, "input" | "type">;
  /**
   * What it has now. `amendedAt`: seq of the entry that brought it, when it is not the one it was born with. `givers`: what
   * it goes back to when it is handed back, the next one last.
   */
  readonly manifest: HeldManifest & { readonly givers?: readonly HeldManifest[] };
  /** The tool by which its step has handed it over, until it is the other agent's. */
  readonly handoff?: { readonly tool: string };
  /** It was handed over, and the other agent has not begun a step yet. */
  readonly arrived?: true;
  readonly inputCount: number;
  readonly seq: number;
  readonly status: RunStatus;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly updatedAt: number;
  readonly endedAt?: number;
  /** Messages of the thread before this run, and those this run has added. */
  readonly position: number;
  readonly appended: number;
  /** Thread positions of the first and last message that this run itself has made. */
  readonly firstOutput?: number;
  readonly lastOutput?: number;
  readonly stepsEnded: number;
  readonly usage: RunUsage;
  /** Where this run's calls begin, where that is not where the thread's do. */
  readonly ownMark?: HistoryMark;
  /** Summaries begun so far, and the newest. */
  readonly compaction?: CompactionState;
  /** Only of a run with a budget of tokens or money. */
  readonly ledger?: Ledger;
  readonly step?: StepState;
  /** Only of a run that executes elsewhere, from its first turn on. */
  readonly remote?: RemoteState;
  /** Runs started through delegates so far. */
  readonly children: number;
  /** Those of them that it does not wait for, until it was told of their end. */
  readonly tasks?: readonly BackgroundTask[];
  /** Of a run that ends: the runs below it that it has asked to end, and what became of them as far as it is known. */
  readonly stopping?: readonly (Pick<StoppedRun, "run" | "agent"> & Partial<StoppedRun>)[];
  /** Since when it waits for them, and the how-manieth time. */
  readonly stopWait?: { readonly at: number; readonly rounds: number };
  readonly tickets: readonly TicketRecord[];
  readonly inbox: readonly PendingInput[];
  readonly cancel?: CancelRequest;
  readonly pause?: { readonly by: string; readonly reason?: string };
  /** Calls whose outcome nobody knows yet: the same tool with the same input is refused meanwhile. */
  readonly unknowns: readonly UnknownCall[];
  /** Run-scoped state keys, those that nobody here knows included. */
  readonly slots: Slots;
  /** Thread-scoped ones, as far as this run has written them. */
  readonly threadSlots: Slots;
  readonly plugins: PluginState;
  /** Run tickets opened so far, by kind: the next one's generation. */
  readonly timers: number;
  readonly pauses: number;
  readonly quarantines: number;
  readonly missed: number;
  /** The claim under which the present wait began. */
  readonly waitingSince?: number | null;
  /** The output, once an answer has passed; answers that have not. */
  readonly output?: { readonly value: JsonValue };
  readonly invalidOutputs: number;
  /** Seq of the last assistant message. */
  readonly answer?: number;
  readonly outcome?: Outcome;
}

/** One that a run has, or has had before it was handed over. `agent`: whose it is, where that is not who was started. */
export interface HeldManifest extends ManifestRef {
  readonly amendedAt?: number;
  readonly agent?: string;
}

/** What a run knows of the other side. */
export interface RemoteState {
  /** The turn that was intended last, and the step it is of. */
  readonly turn: RemoteIntent;
  readonly step: number;
  /** Its task, once that was seen. */
  readonly task?: RemoteTask;
  /** Work of it may go on there. */
  readonly mayRun: boolean;
  /** The request to end that. */
  readonly abort?: EffectState;
  /** How many of the run's own messages were there for an earlier turn, and for this one. */
  readonly sentBefore: number;
  readonly sent: number;
  /** Tickets opened so far, by kind: the next one's generation. */
  readonly waits: number;
  readonly unknowns: number;
  /** Rises only by an operator's run-again, which is what makes another message id. */
  readonly again: number;
  /** What somebody has answered to the other side; the next turn brings it. */
  readonly answer?: { readonly ticket: TicketId; readonly on: RemoteWait; readonly value: JsonValue };
}

export interface StepState {
  readonly step: number;
  readonly model: EffectState;
  readonly calls: readonly CallState[];
  readonly ended: boolean;
  /** What plugins changed of its model call. */
  readonly changes: StepChanges;
  /** What plugins say in it, fixed when its model call is first intended. */
  readonly context: readonly ContextSlot[];
  /** What came of checking its answer as the run's output. */
  readonly report?: OutputReport;
  /** The report is not the last word: the output gate is still asked. */
  readonly reportPending?: true;
  /** Its answer, while the output gate has not let it through. */
  readonly pending?: PendingAnswer;
  /** Its answer was let through by the output gate. */
  readonly said?: true;
  /** A plugin wants another reply: none of its calls runs. */
  readonly retried?: string;
}

export interface PendingAnswer {
  readonly message: Message;
  /** The plugin that has changed it. */
  readonly changedBy?: string;
  /** Which policy that is. */
  readonly policy?: PolicyRef;
}

export interface EffectState {
  readonly id: EffectId;
  readonly attempt: number;
  /** Attempts that failed for good reason; lost ones do not count. */
  readonly failures: number;
  /** The attempt in flight: intended and not settled. */
  readonly open?: OpenAttempt;
  readonly last?: Settled;
  /** Of a reply that broke off: what the next attempt goes on from. */
  readonly kept?: readonly Part[];
  /** Of a delegate's call: the run that it is. No claim holds it, so none loses it. */
  readonly child?: Pick<ChildIntent, "run" | "thread" | "agent" | "ephemeral" | "background">;
}

export interface CompactionState {
  readonly generation: number;
  readonly effect: EffectState;
  /** The last message that it stands for. */
  readonly upTo: MessageId;
  /** After a failure: not before the run has appended so many messages. */
  readonly notBefore?: number;
}

export type OpenAttempt = Pick<EffectIntended, "attempt" | "key" | "startBy" | "timeoutMs"> & {
  readonly epoch: number | null;
};

/**
 * proposed: no verdict yet · asked: a ticket decides · ready: may be intended · running: intended ·
 * unknown: nobody knows whether it happened · concluded: over, its result not yet in the transcript · settled
 */
export type CallStatus = "proposed" | "asked" | "ready" | "running" | "unknown" | "concluded" | "settled";

export interface CallState {
  readonly id: CallId;
  readonly index: number;
  readonly tool: string;
  readonly input: CallInput;
  readonly status: CallStatus;
  /** Tickets opened so far for this call: the next one's generation. */
  readonly asked: number;
  readonly unknownTickets: number;
  /** Rises only by an operator's run-again, which is what makes a new idempotency key. */
  readonly keyGeneration: number;
  readonly ask?: Extract<Verdict, { kind: "ask" }>;
  /** An input offered by a person, not yet judged. */
  readonly edit?: { readonly input: JsonValue };
  readonly problem?: string;
  /** Why what was asked or allowed before has to be asked again. */
  readonly reasked?: string;
  /** Judged anew since its last attempt, because its tool has changed. */
  readonly again?: true;
  readonly decision?: { readonly decision: Decision; readonly by: string; readonly at: number };
  readonly effect?: EffectState;
  /** Of a delegate's call: how the run that it is has ended, while nothing has come of it. */
  readonly ended?: ChildEnded;
  readonly result?: CallResult;
  readonly decidableFrom?: number;
}

/** A run of a delegate that works beside this one: from the intent until the run was told of its end. */
export interface BackgroundTask {
  readonly call: CallId;
  readonly tool: string;
  readonly effect: EffectState;
  readonly ended?: ChildEnded;
}

export interface UnknownCall {
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonValue;
}
