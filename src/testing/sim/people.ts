/** Everyone outside the workers: starts runs, answers tickets (sometimes twice at once), cancels, pauses, sends input. */
import type { Agent } from "../../domain/agent.ts";
import { isHoldfastError } from "../../domain/errors.ts";
import type { InputId, RunId } from "../../domain/ids.ts";
import type { RunResult, Settlement } from "../../runtime/runtime.ts";
import type { Plan, RunPlan } from "./plan.ts";
import type { SimProcess } from "./processes.ts";
import type { Random } from "./random.ts";
import type { Owner, Scheduler } from "./scheduler.ts";
import type { Report } from "./violations.ts";

export interface Told {
  readonly ticket: string;
  readonly by: string;
  readonly settlement: Settlement;
}

/** What people were told; held against the journal at the end. */
export interface PeopleLog {
  readonly started: Map<string, RunId>;
  readonly told: Told[];
  readonly inputs: { readonly run: RunId; readonly input: InputId; withdrawn: boolean }[];
  /** Messages given to somebody: by a start, or through a run's handle. */
  readonly said: { readonly text: string; readonly run: RunId }[];
  readonly results: { readonly run: RunId; readonly result: RunResult }[];
  startsLeft: number;
}

/** Where people meet: one desk, one log, one scheduler. */
export interface Crowd {
  readonly plan: Plan;
  readonly agents: readonly Agent<unknown>[];
  readonly desk: SimProcess;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly report: Report;
  readonly log: PeopleLog;
  /** The faults are over: the approver only helps. */
  healing: boolean;
}

export interface Person {
  readonly owner: Owner;
  readonly chance: Random;
  readonly crowd: Crowd;
}

/** Refusals that a person may well meet in an honest race. */
const honestRefusals = [
  "run-ended",
  "ticket-expired",
  "ticket-not-decidable",
  "ticket-hash-mismatch",
  "invalid-decision",
];

export function isHonestRefusal(cause: unknown): boolean {
  return isHoldfastError(cause) && honestRefusals.includes(cause.code);
}

/** A person lives for one act; an act that fails for no good reason is a violation. */
export function bringIn(name: string, crowd: Crowd, act: (person: Person) => Promise<void>): void {
  const owner: Owner = { name, alive: true, frozenUntil: 0 };
  act({ owner, chance: crowd.random.branch(name), crowd }).catch((cause: unknown) => {
    if (isHonestRefusal(cause)) return;
    crowd.report("unexpected-error", `${name}: ${cause instanceof Error ? cause.stack : String(cause)}`);
  });
}

export function pause({ owner, crowd }: Person, ms: number): Promise<void> {
  return crowd.scheduler.turn(owner, `looks up after ${ms} ms`, ms);
}

/** Some run, once it is there, and mostly while it is young: what comes later finds it waiting or done. */
export async function someRun(person: Person): Promise<RunId> {
  const { chance, crowd } = person;
  const { name } = chance.pick(crowd.plan.runs);
  const patience = chance.int(chance.pick([60, 300, 1_500]));
  for (;;) {
    await pause(person, patience);
    const started = crowd.log.started.get(name);
    if (started !== undefined) return started;
  }
}

/** A person who is told "later" by the store asks again; the key makes that harmless. */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (cause) {
      const again = isHoldfastError(cause) && (cause.code.startsWith("store-") || cause.code === "commit-unknown");
      if (!again) throw cause;
    }
  }
}

export async function startRun(person: Person, run: RunPlan): Promise<void> {
  const { desk, agents, plan, log, report } = person.crowd;
  await pause(person, run.startAfterMs);
  const agent = agents.find((each) => each.name === run.agent) as Agent<unknown>;
  const options = { thread: run.thread, key: `start-${run.name}`, whenBusy: run.whenBusy ?? "queue" } as const;
  const asked = run.startTwice ? [1, 2] : [1];
  const [first, ...others] = await Promise.all(
    asked.map(() => patiently(() => desk.runtime.start(agent, run.name, options))),
  );
  if (!first || others.some((each) => each.id !== first.id)) return report("start-once", `${run.name} became two runs`);
  log.started.set(run.name, first.id);
  log.startsLeft -= 1;
  log.said.push({ text: run.name, run: first.id });
  if (plan.people.waits) log.results.push({ run: first.id, result: (await first.result()) as RunResult });
}
