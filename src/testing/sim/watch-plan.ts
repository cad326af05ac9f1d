/** A schedule about watching: short runs that talk in pieces, and spectators who come, stall, leave and come back. */
import type { EventFilter } from "../../domain/event-filter.ts";
import { drawProfile } from "./faults.ts";
import { counter, type Plan, type RunPlan, type StepPlan } from "./plan.ts";
import type { Random } from "./random.ts";
import type { SimInput } from "./sim-tools.ts";
import type { SpectatorPlan, Subject } from "./spectator-plan.ts";

export const oneThread = "t1";

export function drawWatchPlan(seed: number, random: Random): Plan {
  const numbers = counter();
  const count = random.pick([1, 1, 2]);
  const runs = Array.from({ length: count }, (_, index) => drawRun(index + 1, { random, numbers }));
  const pauses = random.chance(0.05) ? 1 : 0;
  const asks = runs.some((run) => run.steps.some((step) => step.calls.some((call) => call.tool === "ask")));
  return {
    seed,
    faults: drawProfile(random),
    settings: drawSettings(random),
    runs,
    people: {
      approves: asks || pauses > 0,
      approverPaceMs: 200,
      helpful: true,
      cancels: random.chance(0.1) ? 1 : 0,
      pauses,
      inputs: 0,
      sends: random.pick([0, 0, 1, 1, 2]),
      waits: false,
    },
    spectators: Array.from({ length: random.between(1, 3) }, (_, index) => drawSpectator(index + 1, { random, runs })),
    chaosMs: random.between(100, 800),
    lateAnswers: random.pick([0, 0.2]),
  };
}

function drawSettings(random: Random): Plan["settings"] {
  return {
    leaseMs: 400,
    pollMs: 300,
    watchPollMs: 120,
    concurrency: 8,
    closeGraceMs: 100,
    limits: {
      modelTimeoutMs: 700,
      modelAttempts: 20,
      phaseTimeoutMs: 200,
      graceMs: 150,
      parkAfterMs: 1_000,
      crashes: 50,
      window: 50,
      snapshotEvery: random.pick([1, 4]),
    },
  };
}

interface Drawing {
  readonly random: Random;
  readonly numbers: () => number;
}

function drawRun(index: number, { random, numbers }: Drawing): RunPlan {
  const length = random.between(1, 2);
  return {
    name: `r${index}`,
    agent: `a${index}`,
    thread: index === 1 || random.chance(0.8) ? oneThread : "t2",
    startAfterMs: index === 1 ? 0 : random.int(random.pick([40, 300])),
    startTwice: random.chance(0.05),
    whenBusy: index === 1 ? "queue" : random.pick(["queue", "steer", "steer", "interrupt"]),
    steps: Array.from({ length }, (_, step) => drawStep({ random, numbers }, step + 1 === length)),
    budget: random.chance(0.2) ? { steps: length } : {}, // what comes late is left to a successor
  };
}

function drawStep({ random, numbers }: Drawing, isLast: boolean): StepPlan {
  const failures = random.chance(0.2) ? 1 : 0;
  const pieces = Array.from({ length: random.between(1, 4) }, (_, index) => "word".slice(0, index + 1));
  return {
    failures,
    fatal: failures > 0 && random.chance(0.05),
    malformed: random.chance(0.1),
    pieces,
    calls: isLast && random.chance(0.7) ? [] : [drawCall({ random, numbers })],
  };
}

/** All at once or in two halves more than a ring holds. */
const floods = [1_200, 2_200];

function drawCall({ random, numbers }: Drawing): StepPlan["calls"][number] {
  const input: SimInput = { n: numbers(), act: "ok", ...(random.chance(0.06) ? { reports: random.pick(floods) } : {}) };
  return { tool: random.pick(["look", "put", "put", "put", "ask"]), input };
}

function drawSpectator(
  index: number,
  { random, runs }: { readonly random: Random; readonly runs: readonly RunPlan[] },
): SpectatorPlan {
  return {
    name: `spectator-${index}`,
    subject: drawSubject(random, runs),
    joinAfterMs: random.int(random.pick([20, 20, 200, 800])),
    departures: random.pick([0, 1, 1, 2, 3]),
    slowness: random.pick([0, 0, 0.1, 0.5]),
  };
}

function drawSubject(random: Random, runs: readonly RunPlan[]): Subject {
  const run = random.pick(runs);
  const filters: readonly EventFilter[] = [
    {},
    { threads: [oneThread] },
    { agents: [run.agent] },
    { threads: ["t2", oneThread], agents: [run.agent, "nobody"] },
    { types: ["message-appended", "run-ended"] },
  ];
  return random.chance(0.5) ? { kind: "run", run: run.name } : { kind: "many", filter: random.pick(filters) };
}
