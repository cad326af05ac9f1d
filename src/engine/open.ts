/** Takes a run up: its state, its transcript, and an instance of each of its plugins. */

import type { DeclaredManifest } from "../domain/declared-manifest.ts";
import { HoldfastError } from "../domain/errors.ts";
import { frozen } from "../domain/frozen.ts";
import { messageOf } from "../domain/json.ts";
import type { PluginRun } from "../domain/plugin.ts";
import type { RunState } from "../domain/run-state.ts";
import { stateProblems } from "../domain/state-space.ts";
import { stepModels } from "../domain/step-overrides.ts";
import type { HeldClaim } from "../ports/dispatcher.ts";
import type { OpenPlugin } from "../ports/plugin-runner.ts";
import { openCalibration } from "./calibration.ts";
import type { Binding, BoundAgent, EngineDeps } from "./deps.ts";
import { openFacts } from "./facts.ts";
import { openFileCache } from "./file-cache.ts";
import { hooksByPhase } from "./hooks.ts";
import { type Loaded, loadRest, loadState } from "./load.ts";
import { readManifest } from "./read-manifest.ts";
import { persist } from "./retry.ts";
import type { Running } from "./running.ts";
import type { Stage } from "./stage.ts";
import type { Fact } from "./work.ts";

export async function openRun(held: HeldClaim, deps: EngineDeps, late: (fact: Fact) => void): Promise<Running> {
  const { claim } = held;
  const patience = { clock: deps.clock, logger: deps.logger, signal: held.lost };
  const { binding, loaded } = await persist(`Loading run ${claim.run}`, patience, () => bindAndLoad(held, deps));
  const boundAgent = binding.agent;
  const { transcript, threadBase, state } = loaded;
  const pluginRun = pluginRunOf(state, boundAgent, { ...deps, storeNow: held.storeNow });
  const opened = openPlugins(boundAgent, pluginRun, loaded);
  const stage: Stage = {
    ...deps,
    boundAgent,
    otherModel: binding.otherModel,
    transcript,
    calibration: openCalibration({
      agent: boundAgent,
      transcript,
      window: deps.limits.window,
      otherModel: binding.otherModel,
    }),
    threadBase,
    pluginRun,
    plugins: opened.plugins,
    hooks: hooksByPhase(opened.plugins),
    toolNames: frozen(boundAgent.shown.map(({ name }) => name)),
    cacheKey: cacheKeyOf(state, boundAgent, deps),
    epoch: claim.epoch,
    scope: claim.scope,
    lost: held.lost,
    storeNow: held.storeNow,
    timers: new Set(),
    files: openFileCache(deps.limits.contentBytes),
    late,
  };
  return {
    ...{ held, claim, deps, loaded, state, boundAgent, binding, stage, ...opened },
    facts: openFacts(stage),
    quiet: new Set(),
    offered: [],
    prepared: [],
    moved: 0,
    snapshotSeq: loaded.snapshotSeq,
    knowsLeaving: false,
  };
}

/** A thread's id may say who talks there: a provider gets to see its hash. */
function cacheKeyOf({ created }: RunState, { name }: BoundAgent, { hash }: EngineDeps): string {
  const { scope, thread } = created.identity;
  return hash.sha256(hash.canonical([scope, thread, name])).slice(0, 40);
}

async function bindAndLoad(held: HeldClaim, deps: EngineDeps): Promise<{ binding: Binding; loaded: Loaded }> {
  const { store, limits } = deps;
  const { claim } = held;
  const found = await loadState(claim, store);
  const binding = await bindRun(found.state, { store, bind: deps.bind, signal: held.lost });
  const readsThread = [...binding.agent.plugins.keys.values()].some(({ scope }) => scope === "thread");
  const around = { store, window: limits.window, threadPosition: claim.threadPosition, readsThread };
  return { binding, loaded: await loadRest(claim, found, around) };
}

type BindDeps = Pick<EngineDeps, "store" | "bind"> & { readonly signal: AbortSignal };

export function bindRun(state: RunState, { store, bind, signal }: BindDeps): Promise<Binding> {
  const { run, scope } = state.created.identity;
  const agent = agentOf(state);
  const declared = async (): Promise<DeclaredManifest> => (await readManifest(state, store)).declared;
  const { budget, request } = state.created;
  const { model } = request.overrides ?? {};
  const models = { budget, stepModels: stepModels(state), ...(model === undefined ? {} : { model }) };
  return bind({ scope, run, agent, fingerprint: state.manifest.fingerprint, declared, signal, ...models });
}

/** Who has it now. */
export function agentOf({ manifest, created }: RunState): string {
  return manifest.agent ?? created.identity.agent;
}

type Surroundings = Pick<EngineDeps, "logger" | "hash" | "clock" | "redactor"> & Pick<HeldClaim, "storeNow">;

function pluginRunOf(state: RunState, { model }: BoundAgent, by: Surroundings): PluginRun {
  const { created, createdAt, status } = state;
  const { logger, hash, clock, redactor, storeNow } = by;
  const { run, thread, scope } = created.identity;
  return frozen({
    id: run,
    thread,
    agent: agentOf(state),
    scope,
    context: created.context,
    createdAt,
    model: { ...model.description },
    foundAs: status,
    now: () => Math.max(clock.now(), storeNow()),
    log: (message, details) => logger.note(message, { run, ...details }),
    redact: redactor.json,
    hash: (value) => hash.sha256(hash.canonical(value)).slice(0, 16),
  });
}

interface Opened {
  readonly plugins: readonly OpenPlugin[];
  readonly broken: string | undefined;
}

/** A run that this process cannot take up is set aside, not failed: another version of the code may go on with it. */
function openPlugins({ name, plugins }: BoundAgent, run: PluginRun, { state, threadBase }: Loaded): Opened {
  const { keys } = plugins;
  const problems = stateProblems({ keys, run: state.slots, thread: state.threadSlots, base: threadBase });
  if (problems.length > 0) {
    return { plugins: [], broken: `Agent ${name} cannot read the state that is stored: ${problems.join("; ")}` };
  }
  try {
    return { plugins: plugins.open(run), broken: undefined };
  } catch (cause) {
    const why = cause instanceof HoldfastError ? cause.message : messageOf(cause);
    return { plugins: [], broken: `Agent ${name}: ${why}` };
  }
}
