/** Plugins behind a port: the engine never calls a user's hook directly, so a cut, a fault or a scheduler can sit here. */
import type { ContextMessage } from "../domain/command.ts";
import type { Phase } from "../domain/phase.ts";
import type { Hook, PhaseView, PluginRun, PolicyName, RequestTransform } from "../domain/plugin.ts";
import type { StateKeyFacts } from "../domain/state-key.ts";

export type AnyHook = Hook<PhaseView>;

/** One plugin's instance for one run. */
export interface OpenPlugin {
  readonly name: string;
  readonly config: unknown;
  /** When it is a policy: which one. */
  readonly policy?: PolicyName;
  /** Names of the state keys that its hooks may write. */
  readonly writes: ReadonlySet<string>;
  /** In the order in which they were given. */
  readonly hooks: ReadonlyMap<Phase, readonly AnyHook[]>;
  readonly transform?: RequestTransform;
  /** Never throws. */
  close(): void;
}

export interface PluginRunner {
  /** By name: every state key that the agent's plugins and tools write. */
  readonly keys: ReadonlyMap<string, StateKeyFacts>;
  /** What plugins say at every model call. */
  readonly context: readonly { readonly plugin: string; readonly message: ContextMessage }[];
  /** A fresh instance of each plugin. Throws plugin-failed, naming the plugin and what is wrong with it. */
  open(run: PluginRun): readonly OpenPlugin[];
}
