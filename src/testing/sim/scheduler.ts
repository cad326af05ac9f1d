/**
 * The scheduler: every await of every simulated process is one of its tasks, and nothing else makes time pass.
 * Neighbours: `scheduled-ports` turns port calls into tasks, `faults` may spoil the task that was picked.
 *
 * Q1 One task runs per step, and what it sets off has come to rest before the next one is picked.
 * Q2 Which task runs is chance of the seed, among those that are due; time jumps only when none is.
 * Q3 A dead owner's tasks never run and never answer: as after SIGKILL.
 * Q4 A frozen owner's tasks wait until it thaws, its sleeps included: as after SIGSTOP and SIGCONT.
 */
import type { Random } from "./random.ts";

/** Whoever a task belongs to: one incarnation of a process, a person, the world outside. */
export interface Owner {
  readonly name: string;
  alive: boolean;
  frozenUntil: number;
}

export interface Task {
  readonly owner: Owner;
  /** For the trace; asked only when somebody reads it. */
  readonly label: () => string;
  at: number;
  /** `fault` is one that the task's own kind understands. */
  run(fault: string | undefined): void;
  /** Faults that make sense here, beyond those any task of a process can suffer. */
  readonly faults?: readonly string[];
  /** A task is put off by chance at most once. */
  putOff?: boolean;
}

export interface TraceLine {
  readonly step: number;
  readonly now: number;
  readonly task: Task;
  readonly fault: string | undefined;
}

export interface Scheduler {
  now(): number;
  step(): number;
  add(task: Task): void;
  remove(task: Task): void;
  drop(owner: Owner): void;
  sleep(owner: Owner, ms: number, signal?: AbortSignal): Promise<void>;
  /** One await that other tasks may overtake; no fault touches it. */
  turn(owner: Owner, what: string, ms?: number): Promise<void>;
  /** Picks and runs tasks until `done` is true after a step, or nothing is left to run. */
  runUntil(done: () => boolean): Promise<void>;
  readonly trace: readonly TraceLine[];
}

export interface SchedulerOptions {
  readonly random: Random;
  /** Runs the picked task, or spoils it; answers the fault's name. */
  readonly perform: (task: Task) => string | undefined;
  readonly drain?: () => Promise<void>;
}

export const startOfTime: number = Date.UTC(2030, 0, 1);

/** Between two steps up to this many milliseconds pass by themselves. */
const longestTick = 2;

export function createScheduler({ random, perform, drain = drainTicks }: SchedulerOptions): Scheduler {
  const tasks: Task[] = [];
  const trace: TraceLine[] = [];
  let now = startOfTime;
  let step = 0;

  function remove(task: Task): void {
    const index = tasks.indexOf(task);
    if (index >= 0) tasks.splice(index, 1);
  }

  const scheduler: Scheduler = {
    now: () => now,
    step: () => step,
    trace,
    add: (task) => {
      if (task.owner.alive) tasks.push(task); // Q3
    },
    remove,
    drop(owner) {
      for (let index = tasks.length - 1; index >= 0; index -= 1) {
        if (tasks[index]?.owner === owner) tasks.splice(index, 1);
      }
    },
    sleep(owner, ms, signal) {
      if (signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = (): void => {
          remove(task);
          signal?.removeEventListener("abort", wake);
          if (owner.alive) resolve();
        };
        const at = now + Math.max(0, ms);
        const task: Task = { owner, label: () => `wakes after ${ms} ms`, at, run: wake, faults: [] };
        signal?.addEventListener("abort", wake, { once: true });
        scheduler.add(task);
      });
    },
    turn(owner, what, ms = 0) {
      return new Promise((resolve) => scheduler.add({ owner, label: () => what, at: now + ms, run: () => resolve() }));
    },
    async runUntil(done) {
      for (;;) {
        await drain(); // Q1
        if (done()) return;
        const soonest = soonestOf(tasks);
        if (soonest === undefined) return;
        now = Math.max(now, soonest);
        const task = pickDue(tasks, now, random);
        step += 1;
        remove(task);
        trace.push({ step, now, task, fault: perform(task) });
        now += random.int(longestTick + 1);
      }
    },
  };
  return scheduler;
}

/** Q2, Q4: when something can run, which is in the past when something is due. */
function soonestOf(tasks: readonly Task[]): number | undefined {
  let soonest: number | undefined;
  for (const task of tasks) {
    const at = readyAt(task);
    if (soonest === undefined || at < soonest) soonest = at;
  }
  return soonest;
}

function pickDue(tasks: readonly Task[], now: number, random: Random): Task {
  return random.pick(tasks.filter((task) => readyAt(task) <= now));
}

function readyAt(task: Task): number {
  return Math.max(task.at, task.owner.frozenUntil);
}

/**
 * Node runs a tick only when the microtask queue is empty, and everything that a task sets off here is a microtask.
 * So this is as complete as a turn of the event loop, and cheaper; a test holds both to the same traces.
 */
export function drainTicks(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

export function drainTurns(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function showTrace(lines: readonly TraceLine[]): readonly string[] {
  return lines.map(({ step, now, task, fault }) => {
    const time = String(now - startOfTime).padStart(6);
    const spoiled = fault === undefined ? "" : `  ! ${fault}`;
    return `${String(step).padStart(5)} ${time} ms  ${task.owner.name.padEnd(9)} ${task.label()}${spoiled}`;
  });
}
