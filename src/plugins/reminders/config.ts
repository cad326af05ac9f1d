/** The rules of reminders, and every problem with them. */
import type { ContextTarget } from "../../domain/command.ts";
import { commandProblem } from "../../domain/command-shape.ts";
import { Problems } from "../../domain/problems.ts";
import type { StandardSchema } from "../../domain/standard-schema.ts";
import { configSchema } from "../shared/config-schema.ts";
import { parseToolPattern, type ToolPattern } from "../shared/tool-pattern.ts";
import type { ValueOp } from "../shared/value-match.ts";
import { type OutputMatch, readOutput } from "./output.ts";

export interface RemindersOptions {
  readonly rules: readonly ReminderRule[];
}

export interface ReminderRule {
  /** One of its own: a rule that comes true again replaces what it said before. */
  readonly name: string;
  /** Which calls, as in permissions: `edit_file`, `db_*`, `run(command ~ "git push*")`. */
  readonly tool: string;
  /** What they must have come to; any output unless said. */
  readonly output?: "any" | ReminderOutput;
  readonly message: ReminderMessage;
}

/** All that is said must hold. */
export interface ReminderOutput {
  readonly status?: "value" | "error";
  /** A glob over what the model reads of the result. */
  readonly content?: string;
  /** Of the value. */
  readonly fields?: readonly { readonly path: string; readonly op: ValueOp; readonly value: string }[];
}

/** Said at the next model call. */
export interface ReminderMessage {
  readonly text: string;
  /** Where; after the instructions unless said. */
  readonly target?: ContextTarget;
  /** Steps to leave out before it is said again. */
  readonly cooldown?: number;
  /** Lower ones come first; 0 unless said. */
  readonly priority?: number;
}

/** A rule as it is used. */
export interface Rule {
  readonly name: string;
  readonly tool: ToolPattern;
  readonly output: OutputMatch;
  readonly message: ReminderMessage;
}

const mostRules = 100;
const messageFields = ["text", "target", "cooldown", "priority"] as const;

export const rulesSchema: StandardSchema<RemindersOptions, readonly Rule[]> = configSchema({
  known: ["rules"],
  read: (value, problems) => readRules(value.rules, problems),
});

function readRules(rules: unknown, problems: Problems): readonly Rule[] {
  if (!Array.isArray(rules) || rules.length === 0 || rules.length > mostRules) {
    problems.add(`rules: must be a list of 1 to ${mostRules} rules`);
    return [];
  }
  const names = new Set<unknown>();
  return rules.flatMap((rule: unknown, index) => {
    const inner = new Problems(rule, ["name", "tool", "output", "message"]);
    const { name, tool, output, message } = (rule ?? {}) as Readonly<Record<string, unknown>>;
    checkField(inner, "name", { key: name });
    if (names.has(name)) inner.add("name: another rule has it already");
    names.add(name);
    const pattern = parseToolPattern(tool);
    if (!pattern.ok) inner.add(`tool: ${pattern.problem}`);
    const match = readOutput(output, inner);
    inner.include("message", messageProblems(message));
    problems.include(`rules[${index}]`, inner);
    if (!pattern.ok || !match) return [];
    const said = { ...(message as ReminderMessage) };
    return [{ name: name as string, tool: pattern.pattern, output: match, message: said }];
  });
}

function messageProblems(message: unknown): Problems {
  const problems = new Problems(message, messageFields);
  const fields = (message ?? {}) as Readonly<Record<string, unknown>>;
  if (fields.text === "") problems.add("text: must not be empty"); // an empty context message takes back what was said
  for (const name of messageFields) {
    if (name === "text" || fields[name] !== undefined) checkField(problems, name, { [name]: fields[name] });
  }
  return problems;
}

/** The rules of the command that it becomes. */
function checkField(problems: Problems, name: string, field: Readonly<Record<string, unknown>>): void {
  const problem = commandProblem({ type: "add-context", key: "key", text: "text", ...field });
  if (problem) problems.add(`${name}: ${problem.slice(problem.indexOf(": ") + 2)}`);
}
