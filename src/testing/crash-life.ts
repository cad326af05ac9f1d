/** One life of a process in a play: what it was given, and how far it has come. */
import type { RunId, Scope } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import type { Store } from "../ports/store.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Cut, Probe } from "./crash-cuts.ts";
import type { CrashScenario } from "./crash-scenario.ts";
import type { WorldView } from "./crash-world.ts";
import type { FakeClock } from "./fake-clock.ts";
import type { Intercept } from "./intercept.ts";

export interface PlayRequest {
  readonly scenario: CrashScenario;
  /** The first life's; every later one opens its own, so that nothing is remembered but what was written. */
  readonly store: Store;
  readonly reopen: () => Promise<Store>;
  /** The store reads its time from here. */
  readonly time: { clock: FakeClock };
  readonly scope: Scope;
  /** One per life, in order; the lives after them are uncut. */
  readonly cuts: readonly Cut[];
  /** Sits between the probe and the ports; made anew for every life. */
  readonly around?: (() => Intercept) | undefined;
  /** What an operator answers when only a cut made an outcome unknown: by `step.index` of the call. */
  readonly results: ReadonlyMap<string, JsonValue>;
}

export interface Life {
  readonly request: PlayRequest;
  readonly store: Store;
  readonly clock: FakeClock;
  readonly probe: Probe;
  readonly world: WorldView;
  readonly runtime: Runtime;
  readonly births: Set<RunId>;
  readonly waits: Set<{ readonly check: () => boolean | Promise<boolean>; readonly resolve: () => void }>;
  script: "running" | "done" | { readonly failed: unknown };
  /** What the script asks the store itself, beside the process. */
  asking: number;
}

export function allBirths(life: Life): Set<RunId> {
  return new Set([...life.births, ...life.probe.births]);
}
