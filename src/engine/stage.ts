/** Where a run's user code is called: everything that a call of it needs. */
import type { EntryBody } from "../domain/entry.ts";
import type { Scope } from "../domain/ids.ts";
import type { PluginRun } from "../domain/plugin.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Slots } from "../domain/state-slots.ts";
import type { OpenPlugin } from "../ports/plugin-runner.ts";
import type { FindOther } from "../ports/provider.ts";
import type { Calibration } from "./calibration.ts";
import type { BoundAgent, EngineDeps } from "./deps.ts";
import type { FileCache } from "./file-cache.ts";
import type { AskedHooks } from "./hooks.ts";
import type { Transcript } from "./transcript.ts";
import type { Fact } from "./work.ts";

export interface Stage extends EngineDeps {
  readonly boundAgent: BoundAgent;
  readonly otherModel: FindOther;
  readonly transcript: Transcript;
  readonly calibration: Calibration;
  /** For a provider's cache: the same for every call of the thread. */
  readonly cacheKey: string;
  readonly epoch: number;
  readonly scope: Scope;
  readonly storeNow: () => number;
  /** Aborts when another worker may have the run. */
  readonly lost: AbortSignal;
  readonly timers: Set<() => void>;
  /** Bytes that were read for a model call of this claim. */
  readonly files: FileCache;
  /** This run's own instances, in the order in which they are asked. */
  readonly plugins: readonly OpenPlugin[];
  readonly hooks: AskedHooks;
  readonly pluginRun: PluginRun;
  readonly toolNames: readonly string[];
  /** The thread's state when the run was taken up. */
  readonly threadBase: Slots;
  /** A result that no longer changes anything. */
  readonly late: (fact: Fact) => void;
}

/** The run as it stands in the draft: what is not committed yet included. */
export interface Standing {
  readonly state: RunState;
  readonly entries: readonly EntryBody[];
}
