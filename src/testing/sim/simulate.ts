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
import { checkOutcome, isSettled } from "./check-outcome.ts";
import { createWorldChecks } from "./check-world.ts";
import { gatherCrowd } from "./crowd.ts";
import { createFaultBench } from "./faults.ts";
import type { Crowd } from "./people.ts";
import { drawPlan, type Plan, type RunPlan } from "./plan.ts";
import { createNetwork, startDesk, startWorker } from "./processes.ts";
import { createRandom } from "./random.ts";
import { createScheduler, type Scheduler, showTrace, startOfTime } from "./scheduler.ts";
import { createSimModel } from "./sim-model.ts";
import { createSimTools } from "./sim-tools.ts";
import type { CheckName, Report, Violation } from "./violations.ts";
import { createWatch, type Watch } from "./watch.ts";
import { watchStore } from "./watched-store.ts";
import { createWorld, type World } from "./world.ts";
import type { Wrap } from "./wrap.ts";

export interface SimOptions {
  readonly wrap?: Wrap;
  /** Only these checks count: whether each catches by itself what it is there for. */
  readonly only?: readonly CheckName[];
  readonly drain?: () => Promise<void>;
}

export interface SimReport {
  readonly seed: number;
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
  const plan = drawPlan(seed, random.branch("plan"));
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
  const store = watchStore(await openStore(scheduler, options.wrap), { watch, report, now: () => scheduler.now() });
  const deps = {
    plan,
    scheduler,
    faults,
    random: random.branch("ports"),
    report,
    wrap: options.wrap ?? {},
    store,
    agents: defineAgents(plan, world),
    published: checks.published,
  };
  const network = createNetwork(deps);
  startWorker("w1", deps, network);
  startWorker("w2", deps, network);
  const crowd = gatherCrowd({ ...deps, desk: startDesk(deps, network), random: random.branch("people") });

  const broken = (): boolean => violations.length > 0 || scheduler.step() > mostSteps;
  await scheduler.runUntil(() => broken() || scheduler.now() >= startOfTime + plan.chaosMs);
  faults.heal();
  crowd.healing = true;
  const end = scheduler.now() + longestHealMs;
  const calmAt = faults.calmAt();
  const rests = (): boolean => scheduler.now() >= calmAt && atRest(watch, crowd);
  await scheduler.runUntil(() => broken() || scheduler.now() >= end || rests());
  if (violations.length === 0) await checkOutcome({ plan, watch, log: crowd.log, store, report });
  return {
    seed,
    steps: scheduler.step(),
    violations,
    seen: tally(scheduler, watch),
    trace: () => showTrace(scheduler.trace),
  };
}

function openStore(scheduler: Scheduler, wrap: Wrap | undefined): Promise<Store> {
  const owner = { name: "store", alive: true, frozenUntil: 0 };
  const clock: Clock = { now: () => scheduler.now(), sleep: (ms, signal) => scheduler.sleep(owner, ms, signal) };
  if (wrap?.store) return wrap.store({ clock, turn: (what) => scheduler.turn(owner, what) });
  return memory().open({ clock, logger: silentLogger });
}

function atRest(watch: Watch, { log, plan }: Crowd): boolean {
  const { people, runs } = plan;
  if (log.startsLeft > 0 || watch.runs.size < runs.length) return false;
  const all = [...watch.runs.values()];
  if (people.waits && log.results.length < all.filter((run) => run.row.status === "done").length) return false;
  return all.every((run) => (people.helpful ? run.row.status === "done" : isSettled(run, watch)));
}

/** One agent per run, so that a model call tells which run it belongs to. */
function defineAgents(plan: Plan, world: World): readonly Agent<unknown>[] {
  const tools = createSimTools(world);
  return plan.runs.map((run) =>
    agent({
      name: run.agent,
      model: createSimModel(run, world),
      instructions: run.name,
      tools: toolsOf(run, tools),
      budget: run.budget,
    }),
  );
}

function toolsOf(run: RunPlan, tools: ReadonlyMap<string, Tool>): readonly Tool[] {
  const names = new Set(run.steps.flatMap((step) => step.calls.map((call) => call.tool)));
  return [...names].flatMap((name) => tools.get(name) ?? []);
}

function tally(scheduler: Scheduler, watch: Watch): Record<string, number> {
  const seen: Record<string, number> = {};
  const count = (name: string): void => {
    seen[name] = (seen[name] ?? 0) + 1;
  };
  for (const { fault } of scheduler.trace) if (fault !== undefined) count(`fault ${fault}`);
  for (const run of watch.runs.values()) {
    count(`run ${run.state.outcome?.kind ?? run.row.status}`);
    for (const { ticket } of run.tickets.values()) count(`ticket ${ticket.kind}`);
    for (const entry of run.entries) if (entry.type === "effect-settled") count(`settled ${entry.result.kind}`);
  }
  return seen;
}
