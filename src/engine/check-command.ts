/** What a hook answered, looked at before it is believed: commands, and only those its phase allows (H1). */

import type { Command, PatchRequest } from "../domain/command.ts";
import { commandLimits, commandProblem } from "../domain/command-shape.ts";
import { HoldfastError } from "../domain/errors.ts";
import { messageOf, toJson } from "../domain/json.ts";
import { saidTwice } from "../domain/overrides.ts";
import type { Phase } from "../domain/phase.ts";
import type { FindOther } from "../ports/provider.ts";
import { failure, looksAtHidden, type Where, whoIn } from "./hook-failure.ts";
import { isAllowed, phaseTable } from "./phases.ts";

interface Answering extends Where {
  /** Names of the state keys that the plugin may write. */
  readonly writes: ReadonlySet<string>;
  /** Models that it may name. */
  readonly otherModel: FindOther;
}

const nothing: readonly Command[] = [];

/** Never throws: what a hook answers may do so when it is looked at. */
export function readAnswer(answer: unknown, where: Answering): readonly Command[] | HoldfastError {
  try {
    return read(answer, where);
  } catch (cause) {
    if (looksAtHidden(where.phase)) return failure(where, cause);
    return refused(where, `reading its answer threw: ${messageOf(cause)}`);
  }
}

function read(answer: unknown, where: Answering): readonly Command[] | HoldfastError {
  if (answer === undefined || answer === null) return nothing;
  const list: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  if (list.length > commandLimits.perHook) {
    return refused(where, `${list.length} commands at once, the limit is ${commandLimits.perHook}`);
  }
  const commands: Command[] = [];
  for (const [index, item] of list.entries()) {
    // A copy of our own: what a hook keeps and changes later is not what was checked.
    const json = toJson(item);
    const problem = json.ok ? problemOf(json.value, where) : notJson(json, where);
    if (problem) return refused(where, `commands[${index}]: ${problem}`);
    commands.push((json as { value: unknown }).value as Command);
  }
  return commands;
}

/** The path is made of the names in what a hook gave, which may be those of a result (F1). */
function notJson({ path, problem }: { readonly path: string; readonly problem: string }, { phase }: Where): string {
  return looksAtHidden(phase) ? "not JSON" : `not JSON at ${path}: ${problem}`;
}

type Rights = Omit<Answering, "plugin" | "policy">;

function problemOf(value: unknown, rights: Rights): string | undefined {
  const { phase, writes } = rights;
  const problem = commandProblem(value);
  if (problem) return problem;
  const command = value as Command;
  if (!isAllowed(command.type, phase)) return `${command.type} is not allowed in ${phase}; ${allowedIn(phase)}`;
  if (command.type === "rewrite-result" && (command.value === undefined) === (command.error === undefined)) {
    return "rewrite-result: needs either value or error";
  }
  if (command.type === "set-state" && (command.value === undefined) === (command.operand === undefined)) {
    return "set-state: needs either value or operand";
  }
  if (command.type === "set-state" && !writes.has(command.key)) {
    return `set-state: it has no state key ${command.key}: name it in the plugin's state`;
  }
  if (command.type === "patch-request") return requestProblem(command, rights);
  if (command.type === "schedule") return scheduleProblem(command.command, { ...rights, phase: command.phase });
  return undefined;
}

function requestProblem(
  { type: _type, instructions: _words, ...said }: PatchRequest,
  { otherModel }: Rights,
): string | undefined {
  const twice = saidTwice(said);
  if (twice) return `patch-request: ${twice}`;
  const other = said.model === undefined ? undefined : otherModel(said.model);
  return other && "problem" in other ? `patch-request: model: ${other.problem}` : undefined;
}

/** What is scheduled has the rights of the phase it is scheduled for. */
function scheduleProblem(command: Command, ahead: Rights): string | undefined {
  const { phase } = ahead;
  if (command.type === "schedule") return "schedule: a schedule cannot be scheduled";
  if (phase === "tool-gate" || phase === "output-gate") return `schedule: verdicts of ${phase} cannot be given ahead`;
  if (phase === "before-run") return "schedule: before-run does not come again";
  const problem = problemOf(command, ahead);
  return problem && `schedule: ${problem}`;
}

function allowedIn(phase: Phase): string {
  const { commands } = phaseTable[phase];
  return commands.length === 0 ? "it only observes" : `allowed are ${commands.join(", ")}`;
}

export function refused(where: Where, problem: string): HoldfastError {
  const { plugin, phase } = where;
  return new HoldfastError("command-refused", `${whoIn(where)}: ${problem}`, { details: { plugin, phase } });
}
