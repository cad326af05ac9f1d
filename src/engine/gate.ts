/**
 * The gate of a tool call: the tool's own check, then the plugins. Of what they say the strictest counts:
 * deny > ask > set-result > patch-input > allow. A changed input is checked and judged like the model's own: by the tool and
 * by every plugin, each of which sees what would run. What they would change of it then is not taken.
 */
import { valueResult } from "../domain/apply-plugins.ts";
import type { Command, GivenCommand, PolicyRef } from "../domain/command.ts";
import type { Verdict } from "../domain/entry.ts";
import { messageOf } from "../domain/json.ts";
import type { Ran } from "./asked-hook.ts";
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
      if (!patch) return letBy(ran, milder(order, own, commands));
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
  const { command } = patch;
  const whose = whoseOf(patch);
  return whenKnown(judge(command.input), (own) => {
    if (own.kind === "refuse") {
      return {
        ...own,
        message: `${changer(patch)} changed the input, and it does not fit: ${own.message}`,
        ...whose,
      };
    }
    return whenKnown(ask(command.input), (ran): Verdict => {
      const more = allowedBy(ran);
      if ("kind" in more) return more;
      const verdict = milder(order, own, [...more, ...commands]);
      if (verdict.kind === "allow") return letBy(ran, { ...verdict, ...whose, input: command.input });
      return verdict.kind === "ask" ? { ...verdict, input: command.input } : verdict;
    });
  });
}

/** What plugins said, unless one of them said no or could not say anything. */
function allowedBy(ran: Ran): readonly GivenCommand[] | Verdict {
  if (ran.kind === "failed") {
    const { plugin: by, policy, error } = ran;
    return { kind: "refuse", code: "plugin-failed", message: error.message, by, ...(policy ? { policy } : {}) };
  }
  const deny = find(ran.commands, "deny");
  if (!deny) return ran.commands;
  const { reason: message, stop, code } = deny.command;
  const given = { ...(stop ? { stop } : {}), ...(code === undefined ? {} : { reason: code }) };
  return { kind: "refuse", code: "denied", message, ...whoseOf(deny), ...given };
}

/** A person's edit itself answers what plugins ask. */
function milder(order: JudgeOrder, own: Verdict, commands: readonly GivenCommand[]): Verdict {
  if (own.kind === "ask") return own;
  const ask = find(commands, "ask");
  if (ask && !order.edited) {
    const { prompt, terms } = ask.command;
    return { kind: "ask", ticket: "approval", prompt, ...whoseOf(ask), ...(terms ? { terms } : {}) };
  }
  const set = find(commands, "set-result");
  return set ? { kind: "result", result: valueResult(set.command), ...whoseOf(set) } : own;
}

export function changer({ plugin, policy }: Omit<GivenCommand, "command">): string {
  return policy ? `Policy ${policy.name}` : `Plugin ${plugin}`;
}

function whoseOf({ plugin: by, policy }: Omit<GivenCommand, "command">): Pick<Verdict, "by" | "policy"> {
  return { by, ...(policy ? { policy } : {}) };
}

/** Of what goes through, the policy that was asked and had nothing against it. */
function letBy(ran: Ran, verdict: Verdict): Verdict {
  const isAllowed = verdict.kind === "allow" && verdict.policy === undefined;
  return isAllowed && ran.kind === "said" && ran.policy ? { ...verdict, policy: ran.policy } : verdict;
}

type Found<Type extends Command["type"]> = {
  readonly plugin: string;
  readonly policy?: PolicyRef;
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
