/** What the scenarios with plugins are made of: state keys of every kind, and a plugin that writes in every phase. */
import { z } from "zod";
import {
  type CallPhaseView,
  type Command,
  type ConfiguredPlugin,
  type Hooks,
  type Phase,
  type PhaseView,
  plugin,
  stateKey,
} from "../../../src/index.ts";
import type { ScriptedAnswer, ScriptedCall } from "../../../src/providers/scripted.ts";

/** Merged: how often, and where. */
export const visits = stateKey({ name: "visits", schema: z.number(), initial: 0, merge: "sum" });
export const trail = stateKey({ name: "trail", schema: z.array(z.string()), initial: [], merge: "union" });
/** Exclusive, read and written: a write that is lost or made twice shows for ever. */
export const count = stateKey({ name: "count", schema: z.number(), initial: 0 });
export const said = stateKey({ name: "said", schema: z.string(), initial: "" });
/** The same of a thread. */
export const rounds = stateKey({ name: "rounds", schema: z.number(), initial: 0, merge: "sum", scope: "thread" });
export const topic = stateKey({ name: "topic", schema: z.string(), initial: "", scope: "thread" });

export const stateKeys = [visits, trail, count, said, rounds, topic];

type AnyView = PhaseView & Partial<Pick<CallPhaseView, "call">>;
type Answer = Command | readonly Command[] | undefined;
type AnyHook = (view: PhaseView) => Answer | Promise<Answer>;

/** One of each kind of write. */
export function noted(view: PhaseView): readonly Command[] {
  const { phase, step, state, run } = view;
  const { call } = view as AnyView;
  const where = call ? ` ${call.id.slice(run.id.length + 1)}` : "";
  return [visits.update(1), trail.update([`${step} ${phase}${where}`]), count.set(state.get(count) + 1)];
}

export type Manner = "at once" | "later" | "by turns";

/** A hook that answers at once, or later, or now one way and now the other. */
export function inManner(manner: Manner, hook: (view: PhaseView) => Answer, index: number): AnyHook {
  const isLater = manner === "later" || (manner === "by turns" && index % 2 === 1);
  return isLater ? async (view) => hook(view) : hook;
}

/** A plugin whose hooks may write any of the keys. */
export function asking(name: string, hooks: Readonly<Partial<Record<Phase, AnyHook>>>): ConfiguredPlugin {
  return plugin({ name, state: stateKeys, create: () => ({ hooks: hooks as Hooks }) })();
}

/** Writes in each of these phases. */
export function noting(name: string, manner: Manner, phases: readonly Phase[]): ConfiguredPlugin {
  return asking(name, Object.fromEntries(phases.map((phase, index) => [phase, inManner(manner, noted, index)])));
}

export const stepPhases: readonly Phase[] = [
  "before-run",
  "before-step",
  "context-ready",
  "before-model",
  "after-model",
  "before-tool",
  "after-tool",
  "after-step",
  "before-end",
];

/** Says what it was told besides the conversation: after a cut it must be told the same. */
export function toldBy(text: string, ...calls: readonly ScriptedCall[]): ScriptedAnswer {
  return ({ instructions, messages, tools }) => {
    const added = messages.filter(({ id }) => id.includes(".context.")).map(({ parts }) => textIn(parts));
    const words = [
      instructions.replaceAll("\n\n", " / "),
      ...added,
      `tools ${tools
        .map(({ name }) => name)
        .sort()
        .join(", ")}`,
    ];
    return { text: `${text} (${words.join(" > ")})`, calls };
  };
}

function textIn(parts: readonly { readonly type: string }[]): string {
  return parts.map((part) => ("text" in part ? String(part.text) : part.type)).join(" ");
}
