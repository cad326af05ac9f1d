/**
 * The gate of a tool call: the tool's own check, then the plugins. Of what they say the strictest counts:
 * deny > ask > set-result > patch-input > allow. A changed input is checked and judged like the model's own.
 */

import { valueResult } from "../domain/apply-plugins.ts";
import type { Command, GivenCommand } from "../domain/command.ts";
import type { Verdict } from "../domain/entry.ts";
import { messageOf } from "../domain/json.ts";
import type { Ran } from "./hooks.ts";
import { type Whenever, whenKnown } from "./whenever.ts";
import type { JudgeOrder } from "./work.ts";

export interface Gate {
  /** The tool's own check of this input: its schema and its approval rule. */
  readonly judge: (input: JudgeOrder["input"]) => Whenever<Verdict>;
  /** Undefined when no plugin looks at calls. */
  readonly ask: (() => Whenever<Ran>) | undefined;
}

export function gateCall(order: JudgeOrder, gate: Gate): Whenever<Verdict> {
  const { ask } = gate;
  return whenKnown(gate.judge(order.input), (own) => {
    if (!ask || own.kind === "refuse") return own;
    return whenKnown(ask(), (ran) => weigh(order, { own, ran, gate }));
  });
}

interface Weighing {
  readonly own: Verdict;
  readonly ran: Ran;
  readonly gate: Gate;
}

function weigh(order: JudgeOrder, { own, ran, gate }: Weighing): Whenever<Verdict> {
  if (ran.kind === "failed") {
    return { kind: "refuse", code: "plugin-failed", message: ran.error.message, by: ran.plugin };
  }
  const deny = find(ran.commands, "deny");
  if (deny) {
    const { reason, stop } = deny.command;
    return { kind: "refuse", code: "denied", message: reason, by: deny.plugin, ...(stop ? { stop } : {}) };
  }
  const patch = findLast(ran.commands, "patch-input");
  if (!patch) return milder(order, own, ran.commands);
  return whenKnown(gate.judge(patch.command.input), (again): Verdict => {
    if (again.kind === "refuse") {
      const message = `Plugin ${patch.plugin} changed the input, and it does not fit: ${again.message}`;
      return { ...again, message, by: patch.plugin };
    }
    const verdict = milder(order, again, ran.commands);
    if (verdict.kind !== "allow" && verdict.kind !== "ask") return verdict;
    return { by: patch.plugin, ...verdict, input: patch.command.input };
  });
}

/** A person's edit itself answers what plugins ask. */
function milder(order: JudgeOrder, own: Verdict, commands: readonly GivenCommand[]): Verdict {
  if (own.kind === "ask") return own;
  const ask = find(commands, "ask");
  if (ask && !order.edited) return { kind: "ask", ticket: "approval", prompt: ask.command.prompt, by: ask.plugin };
  const set = find(commands, "set-result");
  return set ? { kind: "result", result: valueResult(set.command), by: set.plugin } : own;
}

type Found<Type extends Command["type"]> = {
  readonly plugin: string;
  readonly command: Extract<Command, { type: Type }>;
};

function find<Type extends Command["type"]>(commands: readonly GivenCommand[], type: Type): Found<Type> | undefined {
  return commands.find(({ command }) => command.type === type) as Found<Type> | undefined;
}

function findLast<Type extends Command["type"]>(
  commands: readonly GivenCommand[],
  type: Type,
): Found<Type> | undefined {
  return commands.findLast(({ command }) => command.type === type) as Found<Type> | undefined;
}

/** A check that breaks never lets a call through. */
export function brokenGate(cause: unknown): Verdict {
  return { kind: "refuse", code: "plugin-failed", message: `Judging the call broke: ${messageOf(cause)}` };
}
