/** A run in the hands of the loop: what it knows, and what has happened that is not committed yet. */
import { fold } from "../domain/apply.ts";
import type { Entry } from "../domain/entry.ts";
import type { Phase } from "../domain/phase.ts";
import type { RunState } from "../domain/run-state.ts";
import type { HeldClaim } from "../ports/dispatcher.ts";
import type { OpenPlugin } from "../ports/plugin-runner.ts";
import type { Claim } from "../ports/store.ts";
import { describedIn } from "./called-model.ts";
import type { Binding, BoundAgent, EngineDeps } from "./deps.ts";
import type { Circumstances, RemoteTerms } from "./draft.ts";
import type { Facts } from "./facts.ts";
import type { Loaded } from "./load.ts";
import type { Stage } from "./stage.ts";
import type { Fact, PreparedFact } from "./work.ts";

export interface Running {
  readonly held: HeldClaim;
  readonly claim: Claim;
  readonly deps: EngineDeps;
  readonly facts: Facts;
  readonly loaded: Loaded;
  readonly boundAgent: BoundAgent;
  readonly binding: Binding;
  readonly plugins: readonly OpenPlugin[];
  /** Why this process cannot go on with the run although it has the agent, if that is so. */
  readonly broken: string | undefined;
  /** Moments of which nothing had to be written, of the present step. */
  quiet: ReadonlySet<string>;
  readonly stage: Stage;
  state: RunState;
  /** Taken, not yet committed. */
  offered: readonly Fact[];
  /** Transactional calls that wait for their commit. */
  prepared: readonly PreparedFact[];
  /** The highest seq we were told of. */
  moved: number;
  /** Seq of the newest snapshot; a run of many short claims gets one too. */
  snapshotSeq: number;
  /** The last decision was made knowing that the process wants to go. */
  knowsLeaving: boolean;
}

export function circumstances(running: Running): Circumstances {
  const { held, claim, deps } = running;
  const elapsed = deps.clock.monotonic();
  running.knowsLeaving = held.leaving.aborted;
  const models = { model: running.boundAgent.model.description, otherModel: running.binding.otherModel };
  return {
    now: Math.max(deps.clock.now(), held.storeNow()), // what is due by store time is due, however late our clock is
    elapsed,
    beginBy: elapsed + held.timeLeft() - deps.startMarginMs,
    leaving: running.knowsLeaving,
    epoch: claim.epoch,
    startBy: held.leaseUntil() - deps.startMarginMs,
    mayStart: claim.mayStart,
    crashes: claim.crashes,
    missing: running.binding.missing,
    missingAgainMs: running.binding.againMs,
    amend: running.binding.amend,
    broken: running.broken,
    hooked: (phase) => isHooked(running, phase),
    quiet: running.quiet,
    remote: termsOf(running.boundAgent),
    output: running.boundAgent.output?.spec,
    ...models,
    candidates: running.loaded.transcript.candidates,
    room: (state) => running.stage.calibration.room(state, describedIn(state, models)),
    compacts: running.boundAgent.history.compact,
    summariser: (running.boundAgent.summariser ?? running.boundAgent.model).description,
    keys: running.boundAgent.plugins.keys,
    threadBase: running.loaded.threadBase,
    threadPosition: claim.threadPosition,
    limits: deps.limits,
    hash: deps.hash,
    spec: (tool) => running.boundAgent.tools.spec(tool),
    delegate: (tool) => running.boundAgent.delegates.get(tool),
  };
}

function termsOf({ remote }: BoundAgent): RemoteTerms | undefined {
  if (!remote) return undefined;
  const { backend, timeoutMs, adapt } = remote;
  return { name: backend.name, capabilities: backend.capabilities, timeoutMs, adapt };
}

/** What plugins say at every model call is said in before-run. */
function isHooked({ stage, boundAgent }: Running, phase: Phase): boolean {
  if (phase === "before-run" && boundAgent.plugins.context.length > 0) return true;
  return stage.hooks.has(phase);
}

export function takeEntries(running: Running, entries: readonly Entry[]): void {
  const fresh = entries.filter((entry) => entry.seq > running.state.seq);
  running.state = fold(running.state, fresh);
  for (const entry of fresh) {
    running.stage.calibration.take(entry, running.state);
    running.loaded.transcript.take(entry);
  }
}
