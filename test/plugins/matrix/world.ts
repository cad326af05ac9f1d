/**
 * A whole run around some hooks. The model calls a tool and then answers; what the run waits for is answered; and everything
 * that can be seen from outside is kept: the journal, what the model and the tools were asked, waits, warnings, timers.
 */
import { z } from "zod";
import type { Command } from "../../../src/domain/command.ts";
import type { Entry } from "../../../src/domain/entry.ts";
import { defaultScope, type RunId } from "../../../src/domain/ids.ts";
import type { Phase } from "../../../src/domain/phase.ts";
import type { ConfiguredPlugin, PhaseView, PluginInstance } from "../../../src/domain/plugin.ts";
import { defaultLimits, type EngineLimits } from "../../../src/engine/limits.ts";
import { agent, memory, plugin, stateKey, tool } from "../../../src/index.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { ModelRequest } from "../../../src/ports/provider.ts";
import type { Run, RunResult, Ticket } from "../../../src/runtime/runtime.ts";
import { createFakeClock } from "../../../src/testing/fake-clock.ts";
import { aModelThat, callsTool } from "../../../src/testing/story.ts";
import { countingIds, startProcess, type TestProcess, turn } from "../../../src/testing/test-process.ts";

export const mark = stateKey({ name: "matrix.mark", schema: z.string(), initial: "unmarked" });
export const total = stateKey({ name: "matrix.total", schema: z.number(), initial: 0, merge: "sum" });

/** Odd enough to be known among all the times that are slept. */
export const limits: EngineLimits = { ...defaultLimits, phaseTimeoutMs: 23_457, graceMs: 4_321 };

/** What the tools answer; nobody else says it. */
export const answer = "the tool's own answer";

export type AnyView = PhaseView & { readonly call?: { readonly input: { readonly n: number } } };
export type Hooked = (view: AnyView) => unknown;

export function hookedIn(phase: Phase, hook: Hooked, name = "probe"): ConfiguredPlugin {
  return pluginOf({ [phase]: hook }, name);
}

/** Hooks without types, in a plugin that may write the state keys. */
export function pluginOf(
  hooks: Readonly<Partial<Record<Phase, Hooked | readonly Hooked[]>>>,
  name = "probe",
): ConfiguredPlugin {
  return plugin({ name, state: [mark, total], create: () => ({ hooks }) as unknown as PluginInstance })();
}

export type Way = "sync" | "async";

/** Says it the first time it is asked; where a step is named, in that one. */
export function saysOnce(commands: (view: AnyView) => readonly Command[], way: Way, step?: number): Hooked {
  let hasSaid = false;
  return (view) => {
    if (hasSaid || (step !== undefined && view.step !== step)) return undefined;
    hasSaid = true;
    const said = commands(view);
    return way === "sync" ? said : turn().then(() => said);
  };
}

/** The run that waits all the time, and hears what is sent to it. */
export function otherRun({ run }: AnyView): string {
  return (run.context as { readonly other: string }).other;
}

export interface Wait {
  readonly ticket: Ticket;
  /** How far the run was when it began to wait. */
  readonly requests: number;
  readonly executed: number;
}

export interface Played {
  readonly result: RunResult;
  readonly journal: readonly Entry[];
  readonly requests: readonly ModelRequest[];
  /** Inputs that the tools' code was called with. */
  readonly executed: readonly unknown[];
  readonly waits: readonly Wait[];
  readonly warnings: readonly string[];
  readonly sleeps: readonly number[];
  /** What came to the other run. */
  readonly heard: readonly Entry[];
}

export interface World {
  readonly run: Run;
  readonly process: TestProcess;
  readonly clock: Clock;
  pass(ms: number): Promise<void>;
  journal(): Promise<readonly Entry[]>;
  /** Answers what the run waits for until it is done; a run that is to hear a cancel is cancelled instead. */
  seeThrough(): Promise<Played>;
}

const needsSomebody: readonly Phase[] = ["on-decision", "on-cancel"];
const pollMs = 60_000;
const input = z.object({ n: z.number() });

export async function play(phase: Phase, ...plugins: readonly ConfiguredPlugin[]): Promise<Played> {
  return (await begin(phase, ...plugins)).seeThrough();
}

/** A decision and a cancel need a run that waits for somebody; every other phase is met by one that does not. */
export async function begin(phase: Phase, ...plugins: readonly ConfiguredPlugin[]): Promise<World> {
  const executed: unknown[] = [];
  const execute = (given: unknown): string => {
    executed.push(given);
    return answer;
  };
  const tools = [
    tool({ name: "work", description: "Works", input, effect: "pure", execute }),
    tool({ name: "guarded", description: "Works", input, effect: "pure", needsApproval: true, execute }),
  ];
  const first = callsTool(needsSomebody.includes(phase) ? "guarded" : "work", { n: 1 });
  const { model, saw } = aModelThat(first, "Done.", "Done again.", "Done at last.");
  const context = z.object({ other: z.string() });
  const actor = agent({ name: "actor", instructions: "Act.", model, tools, context, plugins });
  const deaf = aModelThat(callsTool("guarded", { n: 0 })).model;
  const ear = agent({ name: "ear", instructions: "Hear.", model: deaf, tools });

  const clock = createFakeClock();
  const sleeps: number[] = [];
  const watched: Clock = {
    ...clock,
    sleep(ms, signal) {
      sleeps.push(ms);
      return clock.sleep(ms, signal);
    },
  };
  const warnings: string[] = [];
  const logger = { warn: (message: string) => void warnings.push(message), note: () => undefined };
  const store = memory();
  const settings = { leaseMs: 30_000, pollMs, limits };
  const agents = [actor, ear];
  const process = await startProcess({ store, agents, clock: watched, ids: countingIds(), logger, settings });
  const other = await process.runtime.start(ear, "listen");
  await other.idle(patience());
  const run = await process.runtime.start(actor, "act", { context: { other: other.id } });
  const reader = await store.open({ clock, logger });
  const entriesOf = (id: RunId): Promise<readonly Entry[]> =>
    reader.readRun({ scope: defaultScope, run: id, after: 0, limit: 1_000 });
  const pass = (ms: number): Promise<void> => clock.advance(ms, () => calm(process));

  async function seeThrough(): Promise<Played> {
    const waits: Wait[] = [];
    for (let idle = await run.idle(patience()); idle.status === "waiting"; idle = await run.idle(patience())) {
      for (const ticket of idle.tickets) {
        waits.push({ ticket, requests: saw.length, executed: executed.length });
        if (waits.length > 5) throw new Error(`It waits for too much: ${waits.map((wait) => wait.ticket.prompt)}`);
        if (phase === "on-cancel") await (await run.cancel({ by: "ana" })).receipt(patience());
        else await decide(ticket);
      }
    }
    const result = await run.result(patience());
    await pass(pollMs); // the outbox is looked at once in a while
    const [journal, heard] = [await entriesOf(run.id), await entriesOf(other.id)];
    await process.runtime.close();
    return { result, journal, requests: saw, executed, waits, warnings, sleeps, heard };
  }

  return { run, process, clock, pass, journal: () => entriesOf(run.id), seeThrough };
}

/** What hangs does not hold time still. */
async function calm(process: TestProcess): Promise<void> {
  for (let turns = 0; turns < 20; turns = process.storing() > 0 ? 0 : turns + 1) await turn();
}

async function decide(ticket: Ticket): Promise<void> {
  if (ticket.kind === "approval") await ticket.approve({ by: "ana" });
  else if (ticket.kind === "input") await ticket.answer("yes", { by: "ana" });
  else throw new Error(`Nobody expected ${ticket.kind}: ${ticket.prompt}`);
}

/** A run that hangs says where, instead of running into the framework's limit. */
function patience(): { readonly signal: AbortSignal } {
  return { signal: AbortSignal.timeout(5_000) };
}
