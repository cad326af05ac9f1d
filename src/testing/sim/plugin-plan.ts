/** A schedule about plugins: short runs, some of them twins of one agent, and plugins that all of them share. */
import type { Phase } from "../../domain/phase.ts";
import type { Extra, HookPlan, PluginPlan, PluginsPlan } from "./hook-plan.ts";
import { drawPlan, type Plan, type RunPlan, type StepPlan } from "./plan.ts";
import type { Random } from "./random.ts";

/** Where state may be written; what each lets a hook ask for besides. */
const extrasIn: Readonly<Partial<Record<Phase, readonly Extra[]>>> = {
  "before-run": ["schedule", "ask"],
  "before-step": ["schedule", "ask", "stop"],
  "context-ready": ["schedule", "throw"],
  "before-model": ["ask", "send", "schedule"],
  "after-model": ["again", "schedule", "ask"],
  "before-tool": ["ask", "send", "throw"],
  "after-tool": ["rewrite", "again", "schedule", "ask"],
  "after-step": ["go-on", "stop", "send"],
  "before-end": ["go-on", "send", "throw"],
  "on-decision": ["schedule"],
  "on-cancel": ["throw"],
};

const writing = Object.keys(extrasIn) as readonly Phase[];
/** Where nothing can be written, and only looking is checked. */
const looking: readonly Phase[] = ["tool-gate", "after-run", "model-delta"];

export function drawPluginPlan(seed: number, random: Random): Plan {
  const plan = drawPlan(seed, random);
  const own = random.branch("plugins");
  return {
    ...plan,
    runs: withTwins(plan.runs.map(shortened), own),
    settings: {
      ...plan.settings,
      limits: { ...plan.settings.limits, phaseTimeoutMs: own.pick([250, 2_000, 5_000]), crashes: own.pick([2, 5, 50]) },
    },
    people: { ...plan.people, inputs: Math.min(plan.people.inputs, 2) },
    chaosMs: own.between(300, 2_000),
    plugged: drawPlugins(own),
  };
}

function shortened(run: RunPlan): RunPlan {
  return { ...run, steps: run.steps.slice(0, 2).map((step): StepPlan => ({ ...step, calls: step.calls.slice(0, 3) })) };
}

/** A twin is another run of the same agent: the same code, the same plugins, at the same time. */
function withTwins(runs: readonly RunPlan[], random: Random): readonly RunPlan[] {
  const [first, ...others] = runs;
  if (!first || !random.chance(0.6)) return runs;
  const twin = {
    ...first,
    name: "twin",
    thread: random.chance(0.7) ? "t3" : first.thread,
    startAfterMs: random.int(200),
  };
  return [first, twin, ...others.slice(0, 1)];
}

function drawPlugins(random: Random): PluginsPlan {
  const count = random.pick([1, 1, 2, 3]);
  return {
    plugins: Array.from({ length: count }, (_, index) => drawPlugin(`p${index + 1}`, random)),
    failsToCreate: random.chance(0.06) ? random.between(5, 9) : undefined,
  };
}

function drawPlugin(name: string, random: Random): PluginPlan {
  const share = random.pick([0.2, 0.4, 0.8]);
  const later = random.pick([0, 0.5, 1]);
  const hooks = [...writing, ...looking].flatMap((phase) =>
    random.chance(share) ? [[phase, drawHook(phase, random, later)] as const] : [],
  );
  return { name, hooks: Object.fromEntries(hooks) };
}

function drawHook(phase: Phase, random: Random, later: number): HookPlan {
  return {
    manner: random.chance(later) ? "later" : "now",
    isSilent: !writing.includes(phase) || random.chance(0.1),
    extra: random.chance(0.25) ? random.pick(extrasIn[phase] ?? ["nothing"]) : "nothing",
  };
}
