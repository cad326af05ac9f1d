/** Whether something is a command at all: what a hook answers is foreign until it was looked at. */
import { termsProblems } from "./approval.ts";
import type { CommandType } from "./command.ts";
import { toJson } from "./json.ts";
import { overrideChecks } from "./overrides.ts";
import { isPhase } from "./phase.ts";

/** Bounds of what one plugin may leave in a run. */
export const commandLimits = { perHook: 256, textBytes: 16 * 1024, contexts: 256, scheduled: 64 } as const;

type Field = (value: unknown) => string | undefined;
interface Shape {
  readonly needed: Readonly<Record<string, Field>>;
  readonly optional?: Readonly<Record<string, Field>>;
}

const words: Field = (value) => {
  if (typeof value !== "string") return "must be a string";
  if (!value.isWellFormed()) return "has a lone surrogate";
  return Buffer.byteLength(value) > commandLimits.textBytes
    ? `is longer than ${commandLimits.textBytes} bytes`
    : undefined;
};
const text: Field = (value) => (value === "" ? "must be a non-empty string" : words(value));
/** An answer may be longer than what plugins say of their own. */
const answer: Field = (value) => {
  if (typeof value !== "string") return "must be a string";
  return value.isWellFormed() ? undefined : "has a lone surrogate";
};
const flag: Field = (value) => (typeof value === "boolean" ? undefined : "must be true or false");
const json: Field = (value) => {
  const checked = toJson(value);
  return checked.ok ? undefined : `is not JSON at ${checked.path}: ${checked.problem}`;
};
const names: Field = (value) =>
  Array.isArray(value) && value.length <= 1_000 && value.every((name) => text(name) === undefined)
    ? undefined
    : "must be a list of at most 1000 names";

function oneOf(...allowed: readonly string[]): Field {
  return (value) => (allowed.includes(value as string) ? undefined : `must be one of ${allowed.join(", ")}`);
}

function integer(least: number, most: number): Field {
  const fits = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
  return (value) => (fits(value) ? undefined : `must be a whole number from ${least} to ${most}`);
}

const terms: Field = (value) => {
  const [first] = termsProblems(value).found;
  return first;
};

const shapes: Readonly<Record<CommandType, Shape>> = {
  "set-state": { needed: { key: text }, optional: { value: json, operand: json } },
  "add-context": {
    needed: { key: text, text: words },
    optional: {
      target: oneOf("system", "session", "conversation", "suffix"),
      priority: integer(-1_000_000, 1_000_000),
      cooldown: integer(0, 1_000_000),
      persistent: flag,
      consumeOnce: flag,
    },
  },
  "hide-tools": { needed: { tools: names } },
  "restrict-tools": { needed: { tools: names } },
  "patch-request": { needed: {}, optional: { instructions: text, ...overrideChecks } },
  deny: { needed: { reason: text }, optional: { stop: flag, code: text } },
  ask: { needed: { prompt: text }, optional: { terms } },
  "set-result": { needed: { value: json }, optional: { say: text } },
  "patch-input": { needed: { input: json } },
  "rewrite-result": { needed: {}, optional: { value: json, say: text, error: text, code: text } },
  "rewrite-output": { needed: { text: answer } },
  retry: { needed: { reason: text } },
  stop: { needed: { code: text }, optional: { detail: text, outcome: oneOf("stopped", "completed", "blocked") } },
  continue: { needed: { message: text } },
  schedule: { needed: { phase: (value) => (isPhase(value) ? undefined : "is no phase"), command: commandProblem } },
  "open-ticket": { needed: { name: text, prompt: text }, optional: { kind: oneOf("input", "approval"), terms } },
  "send-input": { needed: { run: text, message: text } },
};

export const commandTypes: readonly CommandType[] = Object.keys(shapes) as CommandType[];

/** What is wrong with it, undefined when it is a command. */
export function commandProblem(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "must be a command";
  const { type, ...fields } = value as { readonly type?: unknown } & Record<string, unknown>;
  const shape = typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type as CommandType] : undefined;
  if (!shape) return `type: no command is called ${brief(type)}; they are ${commandTypes.join(", ")}`;
  for (const [name, field] of Object.entries(shape.needed)) {
    const problem = field(fields[name]);
    if (problem) return `${name}: ${problem}`;
  }
  for (const [name, given] of Object.entries(fields)) {
    if (Object.hasOwn(shape.needed, name) || given === undefined) continue;
    const field = Object.hasOwn(shape.optional ?? {}, name) ? shape.optional?.[name] : undefined;
    const problem = field ? field(given) : `unknown field; known are ${namesOf(shape).join(", ")}`;
    if (problem) return `${brief(name)}: ${problem}`;
  }
  return undefined;
}

function brief(name: unknown): string {
  return typeof name === "string" ? name.slice(0, 100).toWellFormed() : `(${typeof name})`;
}

function namesOf({ needed, optional = {} }: Shape): readonly string[] {
  return [...Object.keys(needed), ...Object.keys(optional)];
}
