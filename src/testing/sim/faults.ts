/** What goes wrong, and how often: a profile per seed, so that some schedules only pause and others only crash. */
import type { Random } from "./random.ts";
import type { Owner, Scheduler, Task } from "./scheduler.ts";

export const faultKinds = [
  "crash-before",
  "crash-after",
  "error",
  "commit-unknown",
  "delay",
  "pause",
  "hint-lost",
  "hint-doubled",
] as const;
export type FaultKind = (typeof faultKinds)[number];

export type FaultProfile = Readonly<Record<FaultKind, number>>;

const highestRate: FaultProfile = {
  "crash-before": 0.04,
  "crash-after": 0.04,
  error: 0.12,
  "commit-unknown": 0.2,
  delay: 0.1,
  pause: 0.08,
  "hint-lost": 1,
  "hint-doubled": 0.3,
};

export const noFaults: FaultProfile = Object.fromEntries(faultKinds.map((kind) => [kind, 0])) as FaultProfile;

/** Swarm testing: each kind is in or out, and a schedule in nine has none. */
export function drawProfile(random: Random): FaultProfile {
  if (random.chance(0.1)) return noFaults;
  const share = random.pick([0.15, 0.35, 0.6]);
  const rates = faultKinds.map((kind) => [kind, random.chance(share) ? random.next() * highestRate[kind] : 0]);
  return Object.fromEntries(rates) as FaultProfile;
}

export interface FaultBench {
  /** Runs the task, or spoils it. */
  perform(task: Task): string | undefined;
  /** Whether chance says so; never once the faults are off. */
  strikes(kind: FaultKind): boolean;
  /** A process that may crash and freeze. */
  enlist(owner: Owner, crash: () => void): void;
  /** From now on nothing goes wrong; who is frozen still wakes late. */
  heal(): void;
  /** When the last frozen process has woken and has had time to find out that it was replaced. */
  calmAt(): number;
}

export interface FaultOptions {
  readonly random: Random;
  readonly profile: FaultProfile;
  readonly leaseMs: number;
  readonly scheduler: () => Scheduler;
}

export function createFaultBench({ random, profile, leaseMs, scheduler }: FaultOptions): FaultBench {
  const crashes = new Map<Owner, () => void>();
  let on = true;

  const strikes = (kind: FaultKind): boolean => on && profile[kind] > 0 && random.chance(profile[kind]);

  function putOff(task: Task, until: number): void {
    task.at = Math.max(task.at, until);
    task.putOff = true;
    scheduler().add(task);
  }

  function spoil(task: Task): FaultKind | undefined {
    const { owner, putOff: wasPutOff } = task;
    const crash = crashes.get(owner);
    const now = scheduler().now();
    if (crash && strikes("crash-before")) {
      crash();
      return "crash-before";
    }
    if (crash && strikes("crash-after")) {
      task.run(undefined);
      crash();
      return "crash-after";
    }
    if (!wasPutOff && strikes("delay")) {
      putOff(task, now + random.between(1, leaseMs));
      return "delay";
    }
    if (crash && !wasPutOff && strikes("pause")) {
      owner.frozenUntil = now + random.between(Math.ceil(leaseMs / 2), leaseMs * 3);
      putOff(task, owner.frozenUntil);
      return "pause";
    }
    return undefined;
  }

  return {
    strikes,
    enlist: (owner, crash) => {
      crashes.set(owner, crash);
    },
    heal: () => {
      on = false;
    },
    calmAt: () =>
      Math.max(0, ...[...crashes.keys()].map(({ alive, frozenUntil }) => (alive ? frozenUntil : 0))) + leaseMs,
    perform(task) {
      if (!on || task.faults === undefined) {
        task.run(undefined);
        return undefined;
      }
      const spoiled = spoil(task);
      if (spoiled) return spoiled;
      const fault = task.faults.find((each) => strikes(each as FaultKind));
      task.run(fault);
      return fault;
    },
  };
}
