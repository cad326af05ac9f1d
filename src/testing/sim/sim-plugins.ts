/**
 * The plugins of a simulated agent. Whatever they write says which run it is of and which instance wrote it, so that a
 * value in the wrong place gives itself away; and a counter is read and written, so that no write can be lost or doubled
 * unnoticed.
 */
import type { Command } from "../../domain/command.ts";
import type { Phase } from "../../domain/phase.ts";
import { type CallPhaseView, type ConfiguredPlugin, type Hooks, type PhaseView, plugin } from "../../domain/plugin.ts";
import type { StandardSchema } from "../../domain/standard-schema.ts";
import { stateKey } from "../../domain/state-key.ts";
import type { HookPlan, PluginPlan, PluginsPlan } from "./hook-plan.ts";
import { onceTools } from "./sim-tools.ts";

/** A value of an exclusive key: its number among all that were written there, and who wrote it. */
export interface Stamp {
  readonly n: number;
  readonly run: string;
  readonly plugin: string;
  readonly instance: number;
  /** What it saw of a merged key. */
  readonly ticks: number;
}

function trusting<Value>(): StandardSchema<Value> {
  const jsonSchema = { input: () => ({}), output: () => ({}) };
  return {
    "~standard": { version: 1, vendor: "holdfast-sim", validate: (value) => ({ value: value as Value }), jsonSchema },
  };
}

const first: Stamp = { n: 0, run: "", plugin: "", instance: 0, ticks: 0 };

export const mine = stateKey({ name: "mine", schema: trusting<Stamp>(), initial: first });
export const ticks = stateKey({ name: "ticks", schema: trusting<number>(), initial: 0, merge: "sum" });
/** Each names the run that wrote it. */
export const names = stateKey({ name: "names", schema: trusting<readonly string[]>(), initial: [], merge: "union" });
export const ours = stateKey({ name: "ours", schema: trusting<Stamp>(), initial: first, scope: "thread" });
export const guests = stateKey({
  ...{ name: "guests", schema: trusting<readonly string[]>(), initial: [] },
  ...{ merge: "union", scope: "thread" },
} as const);
/** What tools write. */
export const works = stateKey({ name: "works", schema: trusting<number>(), initial: 0, merge: "sum" });

/** What a hook saw of its state. */
export interface Seen {
  readonly mine: Stamp;
  readonly ticks: number;
  readonly names: readonly string[];
  readonly ours: Stamp;
  readonly guests: readonly string[];
}

export interface Asked {
  readonly plugin: string;
  readonly instance: number;
  /** The run that the instance was made for, and the one it is asked about. */
  readonly madeFor: string;
  readonly view: PhaseView;
  readonly seen: Seen;
  /** What it sees once it has been waited for. */
  readonly seenLater?: Seen;
}

/** Told in the moment it happens. */
export interface PluginWatcher {
  /** Answers the instance's number. */
  created(plugin: string, run: string): number;
  asked(asked: Asked): void;
}

export interface PluginPlace {
  readonly watcher: PluginWatcher;
  /** Waits as long as chance says. */
  readonly think: (what: string) => Promise<void>;
}

export function createSimPlugins(plan: PluginsPlan, place: PluginPlace): readonly ConfiguredPlugin[] {
  return plan.plugins.map((each) => createSimPlugin(each, plan, place));
}

function createSimPlugin(plan: PluginPlan, { failsToCreate }: PluginsPlan, place: PluginPlace): ConfiguredPlugin {
  const { name } = plan;
  const define = plugin({
    name,
    state: [mine, ticks, names, ours, guests],
    create: (_config, run) => {
      const instance = place.watcher.created(name, run.id);
      if (failsToCreate && instance % failsToCreate === 0) throw new Error("The plan says that it cannot be created");
      const hooks = Object.entries(plan.hooks).map(([phase, hook]) => {
        const self: Self = { plugin: name, instance, madeFor: run.id, hook, place };
        return [phase, hook.manner === "now" ? (view: PhaseView) => answerNow(view, self) : later(self)];
      });
      return { hooks: Object.fromEntries(hooks) as Hooks };
    },
  });
  return define();
}

interface Self {
  readonly plugin: string;
  readonly instance: number;
  readonly madeFor: string;
  readonly hook: HookPlan;
  readonly place: PluginPlace;
}

function answerNow(view: PhaseView, self: Self): readonly Command[] {
  const { plugin: name, instance, madeFor, place } = self;
  const seen = look(view);
  place.watcher.asked({ plugin: name, instance, madeFor, view, seen });
  return say(view, seen, self);
}

function later(self: Self) {
  return async (view: PhaseView): Promise<readonly Command[]> => {
    const { plugin: name, instance, madeFor, place } = self;
    const seen = look(view);
    place.watcher.asked({ plugin: name, instance, madeFor, view, seen });
    await place.think(`${name} thinks in ${view.phase}`);
    place.watcher.asked({ plugin: name, instance, madeFor, view, seen, seenLater: look(view) });
    return say(view, seen, self);
  };
}

function look({ state }: PhaseView): Seen {
  return {
    mine: state.get(mine),
    ticks: state.get(ticks),
    names: state.get(names),
    ours: state.get(ours),
    guests: state.get(guests),
  };
}

function say(view: PhaseView, seen: Seen, self: Self): readonly Command[] {
  const { plugin: name, instance, hook } = self;
  if (hook.isSilent) return [];
  const { id: run } = view.run;
  const stamp = { run, plugin: name, instance, ticks: seen.ticks };
  return [
    ticks.update(1),
    mine.set({ n: seen.mine.n + 1, ...stamp }),
    ...(aboutThread.includes(view.phase) ? [ours.set({ n: seen.ours.n + 1, ...stamp })] : []),
    ...(aboutNames.includes(view.phase) ? [names.update([`${run} ${view.phase}`]), guests.update([run])] : []),
    ...extras(view, seen, hook),
  ];
}

/** Not everywhere, or a schedule would do little else than write. */
const aboutThread: readonly Phase[] = ["before-run", "before-step", "after-tool", "after-step", "on-cancel"];
const aboutNames: readonly Phase[] = ["before-run", "after-model", "before-end", "on-decision"];

/** Seldom: by the number of what was written so far, so that it is the same again after a crash. */
function extras(view: PhaseView, { mine: { n } }: Seen, { extra }: HookPlan): readonly Command[] {
  const { phase } = view;
  const isNow = n % 5 === 1 && n < 40;
  switch (extra) {
    case "schedule":
      return [{ type: "schedule", phase: scheduledFor(phase, n), command: ticks.update(1) }];
    case "ask":
      return isNow ? [{ type: "open-ticket", name: "plan", prompt: `Moment ${n}?` }] : [];
    case "send":
      return isNow && !isSuccessor(view) ? [{ type: "send-input", run: view.run.id, message: `Note ${n}` }] : [];
    case "go-on":
      return isNow ? [{ type: "continue", message: `Go on after ${n}` }] : [];
    case "again":
      return isNow && mayRepeat(view) ? [{ type: "retry", reason: `Again after ${n}` }] : [];
    case "rewrite":
      return [{ type: "rewrite-result", value: { rewritten: n } }];
    case "stop":
      return n > 12 ? [{ type: "stop", code: "planned" }] : [];
    case "throw":
      if (isNow) throw new Error(`The plan says that it fails at ${n}`);
      return [];
    default:
      return [];
  }
}

/** What it sent and nobody read would go on to successors for ever. */
function isSuccessor({ run }: PhaseView): boolean {
  return run.id.endsWith(".next");
}

function scheduledFor(phase: Phase, n: number): Phase {
  if (phase === "after-tool" || n % 2 === 0) return "after-step";
  return phase === "before-run" ? "before-step" : "after-tool";
}

/** A reply always; a call only where another attempt does no harm. */
function mayRepeat(view: PhaseView): boolean {
  const { phase } = view;
  return phase !== "after-tool" || !onceTools.includes((view as CallPhaseView).call.tool);
}
