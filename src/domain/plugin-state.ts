/** What plugins have left in a run: part of the fold. It holds what is still to have an effect, and nothing else. */
import type { Command, ContextMessage, ContextTarget, GivenCommand } from "./command.ts";
import type { CallId, TicketId } from "./ids.ts";
import type { JsonValue } from "./json.ts";
import { mergeOverrides, type Overrides, spoken } from "./overrides.ts";
import type { Phase } from "./phase.ts";
import type { Outcome } from "./run.ts";
import type { Decision, TicketKind } from "./ticket.ts";

export interface PluginState {
  /** Moments of the present step that are over and of which something was written. */
  readonly passed: readonly string[];
  readonly context: readonly ContextSlot[];
  readonly scheduled: readonly ScheduledCommand[];
  /** For the step to come. */
  readonly ahead: StepChanges;
  /** The run is to end like this as soon as nothing of it is in flight. */
  readonly stop?: { readonly outcome: Outcome; readonly at: number };
  /** The run has a next step, whatever the model thinks. */
  readonly goesOn: boolean;
  /** Answers of people that on-decision has not seen yet. */
  readonly decided: readonly DecidedTicket[];
  /** Tickets opened by plugins so far: the next one's generation. */
  readonly opened: number;
}

/** What plugins change of one step's model call. */
export interface StepChanges {
  readonly hidden?: readonly string[];
  /** Only these; absent means all. */
  readonly only?: readonly string[];
  readonly instructions?: string;
  readonly overrides?: Overrides;
}

export interface ContextSlot {
  readonly plugin: string;
  readonly key: string;
  readonly text: string;
  readonly target: ContextTarget;
  readonly priority: number;
  readonly cooldown: number;
  readonly persistent: boolean;
  readonly once: boolean;
  /** The last step in which it was said, with this text. */
  readonly saidIn?: number;
}

export interface ScheduledCommand extends GivenCommand {
  readonly phase: Phase;
}

export interface DecidedTicket {
  readonly id: TicketId;
  readonly kind: TicketKind;
  readonly prompt: string;
  readonly plugin?: string;
  readonly name?: string;
  readonly openedAt: number;
  readonly call?: CallId;
  readonly tool?: string;
  readonly input?: JsonValue;
  readonly decision: Decision;
  readonly by: string;
  readonly at: number;
}

export const noPlugins: PluginState = {
  passed: [],
  context: [],
  scheduled: [],
  ahead: {},
  goesOn: false,
  decided: [],
  opened: 0,
};

export function contextSlot(plugin: string, message: ContextMessage): ContextSlot {
  const { key, text, target = "system", priority = 0, cooldown = 0, persistent = false, consumeOnce = false } = message;
  return { plugin, key, text, target, priority, cooldown, persistent: persistent || consumeOnce, once: consumeOnce };
}

/** A slot of the same name is replaced, or taken back by an empty text; one that repeats itself keeps its cooldown. */
export function withContext(slots: readonly ContextSlot[], slot: ContextSlot): readonly ContextSlot[] {
  const known = slots.find((each) => each.plugin === slot.plugin && each.key === slot.key);
  if (slot.text === "") return slots.filter((each) => each !== known);
  const isRepeated = known?.saidIn !== undefined && known.text === slot.text;
  const kept = isRepeated ? { ...slot, saidIn: known.saidIn as number } : slot;
  return [...slots.filter((each) => each !== known), kept];
}

const targets: readonly ContextTarget[] = ["system", "session", "conversation", "suffix"];

/** What is said in this step, in the order in which it is said. */
export function saidIn(step: number, slots: readonly ContextSlot[]): readonly ContextSlot[] {
  return slots.filter((slot) => isDue(slot, step)).sort(inOrder);
}

function isDue({ saidIn: last, cooldown }: ContextSlot, step: number): boolean {
  return last === undefined || step - last > cooldown;
}

function inOrder(a: ContextSlot, b: ContextSlot): number {
  const byTarget = targets.indexOf(a.target) - targets.indexOf(b.target);
  return byTarget || a.priority - b.priority || compare(a.plugin, b.plugin) || compare(a.key, b.key);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What is left once they were said. One that has a cooldown is remembered, or it would be said again too soon. */
export function afterSaying(step: number, slots: readonly ContextSlot[]): readonly ContextSlot[] {
  return slots.flatMap((slot) => {
    if (!isDue(slot, step)) return slot.persistent || isCooling(slot, step) ? [slot] : [];
    const persistent = slot.persistent && !slot.once;
    return persistent || slot.cooldown > 0 ? [{ ...slot, persistent, saidIn: step }] : [];
  });
}

function isCooling({ saidIn: last, cooldown }: ContextSlot, step: number): boolean {
  return last !== undefined && step - last < cooldown;
}

export function withChanges(changes: StepChanges, command: Command): StepChanges {
  switch (command.type) {
    case "hide-tools":
      return { ...changes, hidden: [...new Set([...(changes.hidden ?? []), ...command.tools])] };
    case "restrict-tools":
      return { ...changes, only: changes.only?.filter((name) => command.tools.includes(name)) ?? command.tools };
    case "patch-request": {
      const { type: _type, instructions, ...said } = command;
      const overrides = spoken(mergeOverrides(changes.overrides ?? {}, said));
      return {
        ...changes,
        ...(instructions === undefined ? {} : { instructions }),
        ...(overrides ? { overrides } : {}),
      };
    }
    default:
      return changes;
  }
}

export function isOffered(tool: string, { hidden = [], only }: StepChanges): boolean {
  return !hidden.includes(tool) && (only?.includes(tool) ?? true);
}
