/** A scenario of the crash kit: agents, and a script that plays their callers. */
import type { RuntimeSettings } from "../compose.ts";
import type { Agent } from "../domain/agent.ts";
import type { RunId } from "../domain/ids.ts";
import type { Sinks } from "../ports/sink.ts";
import type { EvidenceRow, Post, PostAnswer, RunRow } from "../ports/store.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { World } from "./crash-world.ts";

export interface ScriptContext {
  readonly runtime: Runtime;
  /** What `agents(world)` gave for this process. */
  readonly agents: readonly Agent<unknown>[];
  readonly world: World;
  /** Waits, without a call to any port, until the check holds. */
  until(check: () => boolean | Promise<boolean>): Promise<void>;
  /** Every run of the scenario as the store has it now; not a call that is cut. */
  rows(): Promise<readonly RunRow[]>;
  /** What is known of a run besides its journal; not a call that is cut. */
  evidence(run: RunId): Promise<readonly EvidenceRow[]>;
  /** The store's outside door, from another process: no hint reaches this one. */
  post(post: Omit<Post, "scope">): Promise<PostAnswer>;
}

/** What a play must come to. */
export interface Expected {
  /** One per run, in the order of their start keys. */
  readonly runs: readonly {
    readonly outcome: string;
    readonly transcript: readonly string[];
    /** `visits = 3`, sorted; absent when it has none. */
    readonly state?: readonly string[];
  }[];
  /** The same of the threads, in the order of their names; absent when none has state. */
  readonly threads?: readonly string[];
  /** `step.index tool result of start-key`, sorted. */
  readonly effects: readonly string[];
  /** Tool effects whose outcome nobody knew, as `step.index`, or `step.index~n` when run again. */
  readonly unknown: readonly string[];
}

export interface CrashScenario {
  readonly name: string;
  /** Called once per process: agents close over the world, never over a process. */
  readonly agents: (world: World) => readonly Agent<unknown>[];
  /**
   * The callers. After a cut the script simply begins again in the next process, so every act of it carries a fixed
   * key: `start(…, { key })`, `cancel({ key })`, a decision's `key`. It may return before the runs have ended.
   */
  readonly script: (context: ScriptContext) => Promise<void>;
  /** As agents: called once per process. */
  readonly sinks?: (world: World) => Sinks;
  readonly settings?: Omit<RuntimeSettings, "scope">;
  /** The script itself answers a call's first so many unknown-outcome tickets; later ones are marked done. */
  readonly unknownsAnsweredByScript?: number;
  /**
   * What throwing user code comes to, by the call's label: `tool.execute refund 1.0`, `tool.judge refund`,
   * `tool.reconcile refund`, `output.check`, `plugin.after-tool keeper 1.0`, with ` #2` the second time, and with ` answer` when the hook
   * was waited for. Every other error must change nothing, and so must that of a plugin that only looks, or that could not
   * be created (the kit releases such a run from its quarantine), unless there is a row for it.
   */
  readonly afterError?: Readonly<Record<string, Expected>>;
}
