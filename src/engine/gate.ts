/**
 * The gate of a tool call: the tool's own check, then the plugins. Of what they say the strictest counts:
 * deny > ask > set-result > patch-input > allow. A changed input is checked and judged like the model's own: by the tool and
 * by every plugin, each of which sees what would run. What they would change of it then is not taken.
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
  /** What plugins say, of this input where it is not the call's own; undefined when none of them looks at calls. */
  readonly ask: ((changed?: JudgeOrder["input"]) => Whenever<Ran>) | undefined;
}

export function gateCall(order: JudgeOrder, { judge, ask }: Gate): Whenever<Verdict> {
  return whenKnown(judge(order.input), (own) => {
    if (!ask || own.kind === "refuse") return own;
    return whenKnown(ask(), (ran) => {
      const commands = allowedBy(ran);
      if ("kind" in commands) return commands;
      const patch = findLast(commands, "patch-input");
      if (!patch) return milder(order, own, commands);
      return gatePatched(order, { patch, commands, judge, ask });
    });
  });
}

interface Patched {
  readonly patch: Found<"patch-input">;
  readonly commands: readonly GivenCommand[];
  readonly judge: Gate["judge"];
  readonly ask: NonNullable<Gate["ask"]>;
}

function gatePatched(order: JudgeOrder, { patch, commands, judge, ask }: Patched): Whenever<Verdict> {
  const { plugin: by, command } = patch;
  return whenKnown(judge(command.input), (own) => {
    if (own.kind === "refuse") {
      return { ...own, message: `Plugin ${by} changed the input, and it does not fit: ${own.message}`, by };
    }
    return whenKnown(ask(command.input), (ran): Verdict => {
      const more = allowedBy(ran);
      if ("kind" in more) return more;
      const verdict = milder(order, own, [...more, ...commands]);
      if (verdict.kind === "allow") return { ...verdict, by, input: command.input };
      return verdict.kind === "ask" ? { ...verdict, input: command.input } : verdict;
    });
  });
}

/** What plugins said, unless one of them said no or could not say anything. */
function allowedBy(ran: Ran): readonly GivenCommand[] | Verdict {
  if (ran.kind === "failed") {
    return { kind: "refuse", code: "plugin-failed", message: ran.error.message, by: ran.plugin };
  }
  const deny = find(ran.commands, "deny");
  if (!deny) return ran.commands;
  const { reason, stop } = deny.command;
  return { kind: "refuse", code: "denied", message: reason, by: deny.plugin, ...(stop ? { stop } : {}) };
}

/** A person's edit itself answers what plugins ask. */
function milder(order: JudgeOrder, own: Verdict, commands: readonly GivenCommand[]): Verdict {
  if (own.kind === "ask") return own;
  const ask = find(commands, "ask");
  if (ask && !order.edited) {
    const { prompt, terms } = ask.command;
    return { kind: "ask", ticket: "approval", prompt, by: ask.plugin, ...(terms ? { terms } : {}) };
  }
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
