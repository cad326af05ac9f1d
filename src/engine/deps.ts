/** What the engine needs of the outside. All of it comes through ports (L11). */

import type { Adaptation } from "../domain/backend/negotiate.ts";
import type { Candidate } from "../domain/candidate.ts";
import type { DeclaredManifest } from "../domain/declared-manifest.ts";
import type { HistorySpec } from "../domain/history.ts";
import type { Fingerprint, RunId, Scope } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import type { OutputReport, OutputSpec } from "../domain/output.ts";
import type { Redactor } from "../domain/redaction.ts";
import type { RunBudget } from "../domain/run.ts";
import type { RemoteBackend } from "../ports/backend.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Counts } from "../ports/counts.ts";
import type { Hash } from "../ports/hash.ts";
import type { Logger } from "../ports/logger.ts";
import type { PluginRunner } from "../ports/plugin-runner.ts";
import type { FindOther, Model, ModelTool } from "../ports/provider.ts";
import type { Store } from "../ports/store.ts";
import type { ToolRunner } from "../ports/tool-runner.ts";
import type { BoundDelegate } from "./bound-delegate.ts";
import type { Amendment } from "./draft.ts";
import type { EngineLimits } from "./limits.ts";
import type { Live } from "./live.ts";

/** An agent's code, bound by name. */
export interface BoundAgent {
  readonly name: string;
  /** Whose models are meant where only a name is said. */
  readonly provider: string;
  readonly model: Model;
  readonly tools: ToolRunner;
  /** As the model sees them. */
  readonly shown: readonly ModelTool[];
  readonly plugins: PluginRunner;
  /** Absent when the answer is text. */
  readonly output?: BoundOutput;
  readonly instructions: (context: JsonValue | undefined) => string;
  /** They, where they are the same for every run. */
  readonly written?: string;
  /** How much of the conversation its calls send. */
  readonly history: HistorySpec;
  /** Who summarises, where that is not its own model. */
  readonly summariser?: Model;
  /** Absent when its runs execute here. */
  readonly remote?: BoundRemote;
  /** Agents that it gives work to, by the name that the model calls. */
  readonly delegates: ReadonlyMap<string, BoundDelegate>;
}

/** Where an agent's turns are made, and on what terms. */
export interface BoundRemote {
  readonly backend: RemoteBackend;
  readonly timeoutMs: number;
  readonly adapt: readonly Adaptation[];
}

export interface BoundOutput {
  readonly spec: OutputSpec;
  /** Shown beside the agent's own, in tool mode only. */
  readonly tool?: ModelTool;
  /** Of an answer that is held back, the problems quote nothing. */
  readonly check: (candidate: Candidate, isHeldBack: boolean) => OutputReport | Promise<OutputReport>;
}

export interface RunToBind {
  readonly scope: Scope;
  readonly run: RunId;
  readonly agent: string;
  readonly fingerprint: Fingerprint;
  /** What the fingerprint is of; asked for only where no agent here has it. */
  readonly declared: () => Promise<DeclaredManifest>;
  readonly budget: RunBudget;
  /** The model that it was started with instead of its agent's. */
  readonly model?: string;
  /** Those that its steps at hand ask for. */
  readonly stepModels: readonly string[];
  /** Aborts when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** The code that takes a run up. */
export interface Binding {
  readonly agent: BoundAgent;
  /** Models that runs and steps name instead of the agent's. The same name is the same model each time. */
  readonly otherModel: FindOther;
  /** Why nothing of the run can go on here, in words; nothing of `agent` is called then (D8). */
  readonly missing?: string;
  /** What is missing is looked for again after so long, whether anybody says that it is here or not. */
  readonly againMs?: number;
  /** The run moves to what the agent declares now. */
  readonly amend?: Amendment;
}

export interface EngineDeps {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly hash: Hash;
  readonly logger: Logger;
  readonly redactor: Redactor;
  readonly live: Live;
  readonly counts: Counts;
  readonly limits: EngineLimits;
  /** Lease end minus this is the last moment at which an attempt may begin. */
  readonly startMarginMs: number;
  /** Something was written for others: whoever carries it need not wait for his next look. */
  readonly nudgeOutbox: () => void;
  readonly bind: (run: RunToBind) => Promise<Binding>;
}
