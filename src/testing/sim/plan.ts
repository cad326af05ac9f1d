/** What a schedule is about: runs, their scripts, who else takes part. Drawn from the seed before anything moves. */
import type { RuntimeSettings } from "../../compose.ts";
import { drawProfile, type FaultProfile } from "./faults.ts";
import type { PluginsPlan } from "./hook-plan.ts";
import type { Random } from "./random.ts";
import { type Act, acts, type SimInput, type ToolName, toolNames } from "./sim-tools.ts";
import type { SpectatorPlan } from "./spectator-plan.ts";

export interface CallPlan {
  readonly tool: string;
  readonly input: SimInput;
  /** The model writes this instead of JSON. */
  readonly garbled?: string;
}

export interface StepPlan {
  readonly calls: readonly CallPlan[];
  /** Attempts that fail before one works. */
  readonly failures: number;
  /** The failures are for good. */
  readonly fatal: boolean;
  /** The first attempt ends without a finish. */
  readonly malformed: boolean;
  /** What is said, piece by piece; one piece unless said. */
  readonly pieces?: readonly string[];
}

export interface RunPlan {
  readonly name: string;
  readonly agent: string;
  readonly thread: string;
  readonly startAfterMs: number;
  readonly startTwice: boolean;
  readonly whenBusy?: "queue" | "steer" | "interrupt";
  readonly steps: readonly StepPlan[];
  readonly budget: { readonly steps?: number; readonly wallTime?: number };
}

export interface PeoplePlan {
  /** Somebody answers tickets; not needed where none can be. */
  readonly approves: boolean;
  readonly approverPaceMs: number;
  /** Answers everything once the faults are over, so that every run must end. */
  readonly helpful: boolean;
  readonly cancels: number;
  readonly pauses: number;
  readonly inputs: number;
  /** Messages given to a run through its handle. */
  readonly sends: number;
  readonly waits: boolean;
}

export interface Plan {
  readonly seed: number;
  readonly faults: FaultProfile;
  readonly settings: RuntimeSettings & { readonly leaseMs: number };
  readonly runs: readonly RunPlan[];
  readonly people: PeoplePlan;
  readonly spectators: readonly SpectatorPlan[];
  readonly chaosMs: number;
  /** Chance of an answer of the store that is old when it arrives. */
  readonly lateAnswers: number;
  /** The plugins of every agent, in schedules about them. */
  readonly plugged?: PluginsPlan;
}

export function drawPlan(seed: number, random: Random): Plan {
  const threads = random.between(1, 2);
  const count = random.pick([1, 2, 2, 3]);
  const numbers = counter();
  const runs = Array.from({ length: count }, (_, index) => drawRun(index + 1, { random, threads, numbers }));
  return {
    seed,
    faults: drawProfile(random),
    settings: drawSettings(random),
    runs,
    people: drawPeople(random),
    spectators: [],
    lateAnswers: 0,
    chaosMs: random.between(1_000, 5_000),
  };
}

function drawSettings(random: Random): Plan["settings"] {
  return {
    leaseMs: 600,
    pollMs: 400,
    concurrency: random.chance(0.2) ? 1 : 8,
    closeGraceMs: 100,
    limits: {
      modelTimeoutMs: 700,
      modelAttempts: 4,
      phaseTimeoutMs: 200,
      graceMs: 150,
      parkAfterMs: random.pick([50, 1_000]),
      crashes: random.pick([1, 2, 5]),
      window: random.pick([3, 50]),
      snapshotEvery: random.pick([1, 2, 4]),
    },
  };
}

function drawPeople(random: Random): PeoplePlan {
  return {
    approves: true,
    approverPaceMs: random.pick([60, 200, 600]),
    helpful: random.chance(0.6),
    cancels: random.chance(0.35) ? random.between(1, 2) : 0,
    pauses: random.chance(0.25) ? random.between(1, 2) : 0,
    inputs: random.chance(0.4) ? random.between(1, 4) : 0,
    sends: 0,
    waits: random.chance(0.2),
  };
}

interface Drawing {
  readonly random: Random;
  readonly threads: number;
  readonly numbers: () => number;
}

function drawRun(index: number, { random, threads, numbers }: Drawing): RunPlan {
  const length = random.between(1, 5);
  return {
    name: `r${index}`,
    agent: `a${index}`,
    thread: `t${random.between(1, threads)}`,
    startAfterMs: index === 1 ? 0 : random.int(600),
    startTwice: random.chance(0.15),
    steps: Array.from({ length }, () => drawStep(random, numbers)),
    budget: {
      ...(random.chance(0.1) ? { steps: random.between(1, 2) } : {}),
      ...(random.chance(0.12) ? { wallTime: random.between(300, 3_000) } : {}),
    },
  };
}

function drawStep(random: Random, numbers: () => number): StepPlan {
  const failures = random.chance(0.15) ? random.between(1, 2) : 0;
  const count = random.pick([0, 1, 1, 2, 2, 3, 4]);
  return {
    failures,
    fatal: failures > 0 && random.chance(0.15),
    malformed: random.chance(0.05),
    calls: Array.from({ length: count }, () => drawCall(random, numbers())),
  };
}

function drawCall(random: Random, n: number): CallPlan {
  const input: SimInput = { n, act: drawAct(random) };
  if (random.chance(0.03)) return { tool: "nope", input };
  const tool = random.pick<ToolName>(toolNames);
  return random.chance(0.03) ? { tool, input, garbled: '{"n":' } : { tool, input };
}

export function drawAct(random: Random): Act {
  return random.chance(0.6) ? "ok" : random.pick(acts);
}

export function counter(): () => number {
  let last = 0;
  return () => {
    last += 1;
    return last;
  };
}
