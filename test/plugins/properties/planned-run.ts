/** Plays one story with planned hooks at a given pace, and says what was written, shown and sent. */
import { z } from "zod";
import { foldAll } from "../../../src/domain/apply.ts";
import type { Command } from "../../../src/domain/command.ts";
import type { Entry } from "../../../src/domain/entry.ts";
import type { JsonValue } from "../../../src/domain/json.ts";
import { momentId, type Phase } from "../../../src/domain/phase.ts";
import { type CallPhaseView, type Hooks, memory, type PhaseView, plugin, tool } from "../../../src/index.ts";
import { aModelThat, callsTool, given, says } from "../../../src/testing.ts";
import type { Pace, PlannedHook, Snapshot, Write } from "./hook-plan.ts";
import { commandOf, commutative, exclusive, initially, type KeyName, keepPace, keys, mixed } from "./hook-plan.ts";
import { type Foreseen, foresee, foreseeTool, type Place } from "./merge-model.ts";

export type Ending = "approved" | "cancelled";

/** The first step calls a tool that writes state, the second one a tool that needs approval, the third one says good-bye. */
const noteWrites: readonly Write[] = [
  { kind: "set", key: "x", reads: "sum", salt: 7 },
  { kind: "update", key: "union", operand: 5 },
  { kind: "update", key: "custom", operand: 11 },
];

const note = tool({
  name: "note",
  description: "Note",
  input: z.object({}),
  effect: "pure",
  writes: [exclusive.x, commutative.union, commutative.custom],
  execute: (_input, { state }) => {
    state.set(exclusive.x, mixed(7, state.get(commutative.sum)));
    state.update(commutative.union, [5]);
    state.update(commutative.custom, 11);
    return "noted";
  },
});

const buy = tool({
  name: "buy",
  description: "Buy",
  input: z.object({}),
  effect: "pure",
  needsApproval: true,
  execute: () => "bought",
});

export interface PlannedRun {
  readonly entries: readonly Entry[];
  readonly asks: ReadonlyMap<string, readonly Snapshot[]>;
  /** What the model was sent, without times. */
  readonly requests: readonly unknown[];
  readonly outcome: unknown;
  /** Run and thread, as anybody reads them afterwards. */
  readonly state: Readonly<Record<string, JsonValue>>;
}

export async function playPlan(
  hooks: readonly PlannedHook[],
  paces: readonly Pace[],
  ending: Ending = "approved",
): Promise<PlannedRun> {
  const asks = new Map<string, Snapshot[]>();
  const names = [...new Set(hooks.map((hook) => hook.plugin))];
  const plugins = names.map((name) => pluginOf(name, { hooks, paces, asks }));
  const model = aModelThat(callsTool("note"), callsTool("buy"), says("bye"));
  const teller = { name: "teller", instructions: "Tell.", tools: [note, buy], plugins };
  await using story = await given(teller, model, { store: memory() });
  const run = await story.userSays("go", { thread: "t" });
  const { status } = await run.idle();
  if (status === "waiting" && ending === "approved") await story.approve(run, "buy");
  if (status === "waiting" && ending === "cancelled") await run.cancel({ by: "ana" });
  const outcome = await run.result();
  const { values } = await run.state();
  const requests = model.saw.map(({ instructions, messages, settings }) => ({ instructions, messages, settings }));
  return { entries: await story.journal(run), asks, requests, outcome, state: values };
}

interface Stage {
  readonly hooks: readonly PlannedHook[];
  readonly paces: readonly Pace[];
  readonly asks: Map<string, Snapshot[]>;
}

function pluginOf(name: string, { hooks, paces, asks }: Stage) {
  const own = hooks.filter((hook) => hook.plugin === name);
  const byPhase: Partial<Record<Phase, unknown[]>> = {};
  for (const hook of own) {
    const pace = paces[hooks.indexOf(hook)] ?? "at once";
    const answer = (view: PhaseView) => {
      const saw = snapshotOf(view);
      const key = `${view.step} ${view.phase} ${hook.name}`;
      asks.set(key, [...(asks.get(key) ?? []), saw]);
      const commands = (): readonly Command[] => {
        if (hook.isBroken) throw new Error(`${hook.name} is broken`);
        return hook.writes.map((write) => commandOf(write, saw));
      };
      return pace === "at once" ? commands() : keepPace(pace).then(commands);
    };
    byPhase[hook.phase] = [...(byPhase[hook.phase] ?? []), answer];
  }
  const state = [...Object.values(exclusive), ...Object.values(commutative)];
  return plugin({ name, state, create: () => ({ hooks: byPhase as Hooks }) })();
}

function snapshotOf(view: PhaseView): Snapshot {
  const values = Object.fromEntries(keys.map((key) => [key.name, view.state.get(key)]));
  const { call } = view as Partial<CallPhaseView>;
  const result = view.phase === "after-tool" && call?.result?.kind === "value" ? { result: call.result.value } : {};
  return { ...(values as Record<KeyName, JsonValue>), ...result };
}

/** The same story by the model. */
export function foreseePlan(hooks: readonly PlannedHook[], run: string, ending: Ending): Foreseen {
  const so: Foreseen = { state: initially, scheduled: [], lines: [], asks: new Map() };
  const calls = [`${run}.1.0`, `${run}.2.0`];
  const at = (step: number, ...phases: readonly Phase[]): void => {
    for (const phase of phases) foresee(hooks, placeOf(step, phase, calls), so);
  };
  at(0, "before-run");
  at(1, "before-step", "context-ready", "before-model", "after-model", "before-tool");
  foreseeTool("note", noteWrites, so);
  at(1, "after-tool", "after-step");
  at(2, "before-step", "context-ready", "before-model", "after-model");
  if (ending === "cancelled") {
    at(2, "on-cancel");
    return so;
  }
  at(2, "on-decision", "before-tool", "after-tool", "after-step");
  at(3, "before-step", "context-ready", "before-model", "after-model", "after-step", "before-end");
  return so;
}

const answers = [undefined, "noted", "bought"];

function placeOf(step: number, phase: Phase, calls: readonly string[]): Place {
  const call = calls[step - 1] as string;
  if (phase === "on-decision") return { step, phase, subject: `${call}.approval.1` };
  if (phase === "before-tool") return { step, phase, subject: call };
  return phase === "after-tool" ? { step, phase, subject: call, result: answers[step] as string } : { step, phase };
}

/** The journal in the words of the model. */
export function linesOf(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap((entry, index) => {
    if (entry.type === "command-applied") {
      const failed = entry.failed ? ` and ${entry.failed.plugin} failed` : "";
      return [`${momentId(entry.phase, entry.subject)} says ${JSON.stringify(entry.commands)}${failed}`];
    }
    if (entry.type !== "state-changed") return [];
    const { slots, threadSlots } = foldAll(entries.slice(0, index + 1));
    const slot = entry.scope === "run" ? slots[entry.key] : threadSlots[entry.key];
    return [`${entry.by} sets ${entry.key} = ${JSON.stringify(slot?.value)}`];
  });
}
