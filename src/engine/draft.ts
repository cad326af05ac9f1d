/** A draft: the committed state, plus entries decided but not yet committed, folded as they are added. */

import { apply } from "../domain/apply.ts";
import type { Capabilities } from "../domain/backend/capabilities.ts";
import type { Adaptation } from "../domain/backend/negotiate.ts";
import type { DeclaredManifest } from "../domain/declared-manifest.ts";
import type { EntryBody } from "../domain/entry.ts";
import type { Candidates, Room } from "../domain/fit-context.ts";
import type { CompactSpec } from "../domain/history.ts";
import type { CallId, EffectId, Fingerprint } from "../domain/ids.ts";
import type { CallResult } from "../domain/message.ts";
import type { ModelDescription } from "../domain/model.ts";
import type { OutputSpec } from "../domain/output.ts";
import type { Phase } from "../domain/phase.ts";
import type { RunState } from "../domain/run-state.ts";
import type { StateKeyFacts } from "../domain/state-key.ts";
import type { Slots } from "../domain/state-slots.ts";
import type { ToolSpec } from "../domain/tool.ts";
import type { Hash } from "../ports/hash.ts";
import type { FindOther } from "../ports/provider.ts";
import type { BoundDelegate } from "./bound-delegate.ts";
import type { EngineLimits } from "./limits.ts";
import type { Order } from "./work.ts";

/** From what the run has to what its agent here declares. */
export interface Amendment {
  readonly before: DeclaredManifest;
  readonly fingerprint: Fingerprint;
  readonly declared: DeclaredManifest;
}

export interface RemoteTerms {
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly timeoutMs: number;
  readonly adapt: readonly Adaptation[];
}

/** Everything `decide` may know besides the state. Plain values and pure functions. */
export interface Circumstances {
  readonly now: number;
  readonly epoch: number;
  /** Lease end minus margin, store time: no attempt may begin after it. */
  readonly startBy: number;
  /** The same moment by this process's own count, and that count now. */
  readonly beginBy: number;
  readonly elapsed: number;
  /** The process wants to go: nothing new begins. */
  readonly leaving: boolean;
  /** False: the run was claimed only to end it. */
  readonly mayStart: boolean;
  readonly crashes: number;
  /** What this process lacks of the agent, in words. Without it a run can only end, or wait for someone who has it. */
  readonly missing: string | undefined;
  /** When it is to be looked for again, if by itself. */
  readonly missingAgainMs: number | undefined;
  /** The run is to move to what its agent declares now. */
  readonly amend: Amendment | undefined;
  readonly threadPosition: number;
  /** Why this process cannot go on with the run although it has the agent, if that is so. */
  readonly broken: string | undefined;
  /** Whether a plugin is asked in this phase. */
  readonly hooked: (phase: Phase) => boolean;
  /** Moments of which nothing had to be written. */
  readonly quiet: ReadonlySet<string>;
  /** What the run's model says of itself; a step may call another one. */
  readonly model: ModelDescription;
  readonly otherModel: FindOther;
  /** What the next model call may send, with what these entries add. */
  readonly candidates: (pending: readonly EntryBody[]) => Candidates;
  /** How much of it fits. */
  readonly room: (state: RunState) => Room;
  /** How what is old is summarised, and by whom; undefined where it is left out. */
  readonly compacts: CompactSpec | undefined;
  readonly summariser: ModelDescription;
  /** Of a run that executes elsewhere. */
  readonly remote: RemoteTerms | undefined;
  /** Absent when the answer is text. */
  readonly output: OutputSpec | undefined;
  readonly keys: ReadonlyMap<string, StateKeyFacts>;
  /** The thread's state when the run was taken up. */
  readonly threadBase: Slots;
  readonly limits: EngineLimits;
  readonly hash: Hash;
  readonly spec: (tool: string) => ToolSpec | undefined;
  readonly delegate: (tool: string) => BoundDelegate | undefined;
}

/** A tool's own answer, and the effect it settles. */
export interface Answered {
  readonly effect: EffectId;
  readonly result: CallResult;
}

export interface Draft {
  state: RunState;
  readonly at: Circumstances;
  readonly entries: EntryBody[];
  start: Order[];
  readonly abort: EffectId[];
  /** Moments that were passed in this draft without a word. */
  readonly quiet: Set<string>;
  /** What tools answered, while plugins have not let it through. */
  readonly answered: Map<CallId, Answered>;
  wakeAt: number | undefined;
  /** Nothing is in flight and nothing may begin here: someone else goes on. */
  handOver: boolean;
  /** The run is another agent's from here on: it is taken up anew, under the same claim. */
  reopen: boolean;
}

export function openDraft(state: RunState, at: Circumstances): Draft {
  const empty = {
    entries: [],
    start: [],
    abort: [],
    quiet: new Set<string>(),
    answered: new Map<CallId, Answered>(),
  };
  return { state, at, ...empty, wakeAt: undefined, handOver: false, reopen: false };
}

export function emit(draft: Draft, body: EntryBody): void {
  const stamp = { seq: draft.state.seq + 1, at: draft.at.now, epoch: draft.at.epoch };
  draft.state = apply(draft.state, { ...stamp, ...body });
  draft.entries.push(body);
}

/** For entries that mean the run goes on: a waiting run is resumed first. */
export function act(draft: Draft, body: EntryBody): void {
  resume(draft);
  emit(draft, body);
}

export function resume(draft: Draft): void {
  if (draft.state.status === "waiting") emit(draft, { type: "run-resumed" });
}

/** The run must be looked at again at this time, whatever happens before. */
export function wakeBy(draft: Draft, time: number | undefined): void {
  if (time !== undefined) draft.wakeAt = Math.min(draft.wakeAt ?? time, time);
}
