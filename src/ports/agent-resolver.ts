/** Where agents come from when they are not known when the process starts: a registry, a database, a folder. */
import type { Agent } from "../domain/agent.ts";
import type { Fingerprint, RunId, Scope } from "../domain/ids.ts";

/** The agent that a run needs. */
export interface WantedAgent {
  readonly agent: string;
  /** Of a run that exists: the version that it was started with. Of a start by name: the version that was asked for, if any. */
  readonly version?: string;
  /** Of a run that exists: the fingerprint of its manifest. */
  readonly fingerprint?: Fingerprint;
  readonly run: RunId;
  readonly scope: Scope;
}

export interface AgentResolver {
  /**
   * Names of the agents whose runs this process executes. It is asked before every look for work, so it must answer at once;
   * the list may change at any time. Without it, the process starts runs and executes none.
   */
  names?(): readonly string[];
  /**
   * The agent for a run that is to be started or to go on: any version may be answered for a run that goes on, its
   * `onUpgrade` decides then. `undefined`: there is none, now. A throw means: not to be told now.
   */
  resolve(
    wanted: WantedAgent,
    context: { readonly signal: AbortSignal },
  ): Agent<unknown> | undefined | Promise<Agent<unknown> | undefined>;
}
