/**
 * One schedule: two workers, a desk and a crowd of people on one memory store, under one seeded scheduler.
 * First chaos, in which safety is checked; then the faults stop, and everything must come to rest (liveness).
 * The seed is the whole story: the same seed gives the same trace.
 */
import { type Agent, agent } from "../../domain/agent.ts";
import type { Tool } from "../../domain/tool.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import { memory } from "../../stores/memory/memory.ts";
import { silentLogger } from "../test-process.ts";
import { checkAnswers } from "./check-answers.ts";
import { momentTally } from "./check-moments.ts";
import { checkOutcome, isSettled } from "./check-outcome.ts";
import { createPluginChecks } from "./check-plugins.ts";
import { checkSpectators, isComplete } from "./check-spectators.ts";
import { createWorldChecks } from "./check-world.ts";
import { gatherCrowd } from "./crowd.ts";
import { createFaultBench } from "./faults.ts";
import type { Crowd } from "./people.ts";
import { drawPlan, type Plan, type RunPlan } from "./plan.ts";
import { drawPluginPlan } from "./plugin-plan.ts";
import { createNetwork, type Host, type Network, type ProcessDeps, startDesk, startWorker } from "./processes.ts";
import { createRandom, type Random } from "./random.ts";
import { createScheduler, type Owner, type Scheduler, showTrace, startOfTime } from "./scheduler.ts";
import { createSimModel } from "./sim-model.ts";
import { createSimPlugins, type PluginPlace, type PluginWatcher, works } from "./sim-plugins.ts";
import { createSimTools } from "./sim-tools.ts";
import { type Gallery, gatherSpectators, type Sitting } from "./spectators.ts";
import type { CheckName, Report, Violation } from "./violations.ts";
import { createWatch, isStarted, type Watch, type WatchedRun } from "./watch.ts";
import { drawWatchPlan } from "./watch-plan.ts";
import { watchStore } from "./watched-store.ts";
import { createWorld, type World } from "./world.ts";
import type { Wrap } from "./wrap.ts";

export interface SimOptions {
  /** Schedules about watching instead of about effects. */
  readonly watching?: boolean;
  /** Schedules about plugins instead. */
  readonly plugins?: boolean;
  readonly wrap?: Wrap;
  /** Only these checks count: whether each catches by itself what it is there for. */
  readonly only?: readonly CheckName[];
  readonly drain?: () => Promise<void>;
}

export interface SimReport {
  readonly seed: number;
  readonly watching: boolean;
  readonly plugins: boolean;
  readonly steps: number;
  readonly violations: readonly Violation[];
  /** By name, what happened: outcomes, ticket kinds, faults. */
  readonly seen: Readonly<Record<string, number>>;
  trace(): readonly string[];
}

const longestHealMs = 120_000;
const mostSteps = 20_000;

export async function simulate(seed: number, options: SimOptions = {}): Promise<SimReport> {
  const random = createRandom(seed);
  const plan = drawerOf(options)(seed, random.branch("plan"));
  const violations: Violation[] = [];
  const report: Report = (check: CheckName, detail: string) => {
    if (options.only?.includes(check) ?? true) violations.push({ check, detail, step: scheduler.step() });
  };
  const faults = createFaultBench({
    random: random.branch("faults"),
    profile: plan.faults,
    leaseMs: plan.settings.leaseMs,
    scheduler: () => scheduler,
  });
  const scheduler: Scheduler = createScheduler({
    random: random.branch("order"),
    perform: (task) => faults.perform(task),
    ...(options.drain ? { drain: options.drain } : {}),
  });
  const watch: Watch = createWatch((key) => world.landed.some((each) => each.key === key));
  const checks = createWorldChecks(() => watch, report);
  const world: World = createWorld({ scheduler, random: random.branch("world"), watcher: checks });
  const plugins = plan.plugged && createPluginChecks({ plan: plan.plugged, watch: () => watch, report });
  const watching = { watch, report, now: () => scheduler.now(), entry: plugins?.entry };
  const store = watchStore(await openStore(scheduler, options.wrap), watching);
  const deps = {
    plan,
    scheduler,
    faults,
    random: random.branch("ports"),
    report,
    wrap: options.wrap ?? {},
    store,
    agents: defineAgents(plan, world, plugins && thinkingPlace(plugins, scheduler, random.branch("thinking"))),
    published: checks.published,
  };
  const network = createNetwork(deps);
  const hosts = startHosts(deps, network);
  const desk = startDesk(deps, network);
  const crowd = gatherCrowd({ ...deps, desk, random: random.branch("people") });
  const gallery = gatherSpectators(crowd, [...hosts, { name: "desk", current: () => desk }]);

  const broken = (): boolean => violations.length > 0 || scheduler.step() > mostSteps;
  await scheduler.runUntil(() => broken() || scheduler.now() >= startOfTime + plan.chaosMs);
  faults.heal();
  crowd.healing = true;
  const end = scheduler.now() + longestHealMs;
  const calmAt = faults.calmAt();
  const rests = (): boolean => scheduler.now() >= calmAt && atRest(watch, crowd, gallery);
  await scheduler.runUntil(() => broken() || scheduler.now() >= end || rests());
  if (violations.length === 0) await checkOutcome({ plan, watch, log: crowd.log, store, report });
  if (violations.length === 0) checkAnswers({ log: crowd.log, watch, report });
  if (violations.length === 0) await plugins?.end(watch, store);
  if (violations.length === 0) await checkSpectators({ plan, gallery, watch, store, report });
  return {
    seed,
    watching: options.watching ?? false,
    plugins: options.plugins ?? false,
    steps: scheduler.step(),
    violations,
    seen: tally({ scheduler, watch, gallery, crowd }),
    trace: () => showTrace(scheduler.trace),
  };
}

function drawerOf({ watching, plugins }: SimOptions): typeof drawPlan {
  if (plugins) return drawPluginPlan;
  return watching ? drawWatchPlan : drawPlan;
}

/** Hooks that take their time wait on nobody: the scheduler says when they go on. */
function thinkingPlace(watcher: PluginWatcher, scheduler: Scheduler, random: Random): PluginPlace {
  const owner: Owner = { name: "thought", alive: true, frozenUntil: 0 };
  return {
    watcher,
    think: (what) => scheduler.turn(owner, what, random.chance(0.7) ? random.int(20) : random.int(150)),
  };
}

function openStore(scheduler: Scheduler, wrap: Wrap | undefined): Promise<Store> {
  const owner = { name: "store", alive: true, frozenUntil: 0 };
  const clock: Clock = {
    now: () => scheduler.now(),
    monotonic: () => scheduler.now(),
    sleep: (ms, signal) => scheduler.sleep(owner, ms, signal),
  };
  if (wrap?.store) return wrap.store({ clock, turn: (what) => scheduler.turn(owner, what) });
  return memory().open({ clock, logger: silentLogger });
}

/** A viewer is a process without agents that dies like a worker. */
function startHosts(deps: ProcessDeps, network: Network): readonly Host[] {
  const workers = ["w1", "w2"].map((name) => startWorker(name, deps, network));
  if (deps.plan.spectators.length === 0) return workers;
  return [...workers, startWorker("viewer", { ...deps, agents: [] }, network)];
}

function atRest(watch: Watch, { log, plan }: Crowd, { spectators }: Gallery): boolean {
  const { people } = plan;
  if (log.startsLeft > 0) return false;
  const all = [...watch.runs.values()];
  const answered = all.filter((run) => run.row.status === "done" && isStarted(run)).length;
  if (people.waits && log.results.length < answered) return false;
  const resting = all.every((run) => (people.helpful ? run.row.status === "done" : isSettled(run, watch)));
  return resting && spectators.every((each) => isComplete(each, watch));
}

/** One agent per run, or per pair of twins, so that a model call tells which plan it belongs to. */
function defineAgents(plan: Plan, world: World, place: PluginPlace | undefined): readonly Agent<unknown>[] {
  const tools = createSimTools(world, plan.plugged && works);
  const plugins = plan.plugged && place ? createSimPlugins(plan.plugged, place) : [];
  const distinct = new Map(plan.runs.map((run) => [run.agent, run]));
  return [...distinct.values()].map((run) =>
    agent({
      name: run.agent,
      model: createSimModel(run, world),
      instructions: run.name,
      tools: toolsOf(run, tools),
      plugins,
      budget: run.budget,
    }),
  );
}

function toolsOf(run: RunPlan, tools: ReadonlyMap<string, Tool>): readonly Tool[] {
  const names = new Set(run.steps.flatMap((step) => step.calls.map((call) => call.tool)));
  return [...names].flatMap((name) => tools.get(name) ?? []);
}

interface Stage {
  readonly scheduler: Scheduler;
  readonly watch: Watch;
  readonly gallery: Gallery;
  readonly crowd: Crowd;
}

function tally({ scheduler, watch, gallery, crowd }: Stage): Record<string, number> {
  const all = [...watch.runs.values()];
  const names = [
    ...scheduler.trace.flatMap(({ fault }) => (fault === undefined ? [] : [`fault ${fault}`])),
    ...all.flatMap(namesOf),
    ...gallery.spectators.flatMap(({ sittings }) => sittings).flatMap(framesOf),
  ];
  const { people, runs } = crowd.plan;
  const seen: Record<string, number> = {
    said: crowd.log.said.length,
    steered: runs.length - all.filter(isStarted).length,
    succeeded: all.filter((run) => !isStarted(run)).length,
    refused: people.sends - crowd.log.inputs.length,
  };
  for (const name of names) seen[name] = (seen[name] ?? 0) + 1;
  return seen;
}

function namesOf({ state, row, tickets, entries }: WatchedRun): readonly string[] {
  return [
    `run ${state.outcome?.kind ?? row.status}`,
    ...[...tickets.values()].map(({ ticket }) => `ticket ${ticket.kind}`),
    ...entries.flatMap((entry) => (entry.type === "effect-settled" ? [`settled ${entry.result.kind}`] : [])),
    ...momentTally(entries),
  ];
}

function framesOf({ end, frames }: Sitting): readonly string[] {
  return [`sitting ${end ?? "to the end"}`, ...frames.map(({ type }) => `frame ${type}`)];
}
