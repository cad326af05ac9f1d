/** What the plugins of a schedule do. */
import type { Phase } from "../../domain/phase.ts";

/** now: in the engine's own turn · later: it has to be waited for */
export type Manner = "now" | "later";

/** What a hook asks for besides state; each only at some of its moments. */
export type Extra = "nothing" | "schedule" | "ask" | "send" | "go-on" | "again" | "rewrite" | "stop" | "throw";

export interface HookPlan {
  readonly manner: Manner;
  /** Silent ones look, and say nothing. */
  readonly isSilent: boolean;
  readonly extra: Extra;
}

export interface PluginPlan {
  readonly name: string;
  readonly hooks: Readonly<Partial<Record<Phase, HookPlan>>>;
}

export interface PluginsPlan {
  readonly plugins: readonly PluginPlan[];
  /** Every so many instances one cannot be created. */
  readonly failsToCreate: number | undefined;
}
