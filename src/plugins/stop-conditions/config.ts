/** The options of stopConditions. What is absent is off; what cannot be meant is refused, never read as "off". */

import { compileRegex } from "../../domain/patterns/linear-regex.ts";
import type { PhaseView } from "../../domain/plugin.ts";
import { isFunction, Problems } from "../../domain/problems.ts";
import type { StandardSchema } from "../../domain/standard-schema.ts";
import { toolNamePattern } from "../../domain/tool.ts";
import { configSchema } from "../shared/config-schema.ts";
import { mostRemembered } from "./counters.ts";

export interface StopConditionsOptions {
  /** So many model calls; the step after them does not begin. */
  readonly steps?: number;
  /** No step begins once so much time has passed since the run began, waiting included. */
  readonly wallTimeMs?: number;
  /** No step begins once the run has used so many tokens, in and out together. */
  readonly tokens?: number;
  /** So many tool calls in a row have ended in an error, in the order of the calls, over steps. */
  readonly consecutiveErrors?: number;
  /** One of these tools has given a value. */
  readonly onTool?: readonly string[];
  /** The model's text contains this text, or fits this regular expression somewhere. */
  readonly onText?: string | { readonly regex: string };
  /** The model has asked for the same tool with the same input so often among its last `window` calls. */
  readonly loop?: { readonly calls: number; readonly window: number };
  /** Asked before and after every step; the run stops when it answers. */
  readonly custom?: (view: PhaseView) => StopReason | undefined | Promise<StopReason | undefined>;
}

export interface StopReason {
  readonly code: string;
  readonly detail?: string;
}

/** The options as they are used. */
export interface Conditions extends Omit<StopConditionsOptions, "onText"> {
  readonly onText?: TextMatch;
}

export interface TextMatch {
  /** For people. */
  readonly words: string;
  test(text: string): boolean;
}

const known = ["steps", "wallTimeMs", "tokens", "consecutiveErrors", "onTool", "onText", "loop", "custom"];

export const conditionsSchema: StandardSchema<StopConditionsOptions, Conditions> = configSchema({ known, read });

function read(value: Readonly<Record<string, unknown>>, problems: Problems): Conditions {
  for (const name of ["steps", "wallTimeMs", "tokens", "consecutiveErrors"]) {
    problems.integer(name, 1, Number.MAX_SAFE_INTEGER);
  }
  problems.optional("onTool", isToolList, `must be a list of one or more names that match ${toolNamePattern}`);
  problems.optional("custom", isFunction, "must be a function (view) that answers { code, detail? } or nothing");
  if (value.loop !== undefined) problems.include("loop", loopProblems(value.loop));
  const match = value.onText === undefined ? undefined : textMatch(value.onText, problems);
  return copied(value, match);
}

/** A copy of our own: what a caller changes later is not what was checked. */
function copied(value: StopConditionsOptions, match: TextMatch | undefined): Conditions {
  const { onText: _written, onTool, loop, ...rest } = value;
  return {
    ...rest,
    ...(Array.isArray(onTool) ? { onTool: [...onTool] } : {}),
    ...(loop ? { loop: { ...loop } } : {}),
    ...(match ? { onText: match } : {}),
  };
}

function isToolList(value: unknown): boolean {
  const isName = (name: unknown): boolean => typeof name === "string" && toolNamePattern.test(name);
  return Array.isArray(value) && value.length > 0 && value.every(isName);
}

function loopProblems(loop: unknown): Problems {
  const problems = new Problems(loop, ["calls", "window"]);
  const { calls, window } = (loop ?? {}) as Partial<NonNullable<StopConditionsOptions["loop"]>>;
  const isBetween = (least: number) => (value: unknown) =>
    Number.isInteger(value) && Number(value) >= least && Number(value) <= mostRemembered;
  problems.check("calls", isBetween(2), `must be a whole number from 2 to ${mostRemembered}`);
  problems.check("window", isBetween(2), `must be a whole number from 2 to ${mostRemembered}`);
  if (Number(window) < Number(calls)) problems.add(`window: ${window} calls are never ${calls} equal ones`);
  return problems;
}

function textMatch(onText: unknown, problems: Problems): TextMatch | undefined {
  if (typeof onText === "string") {
    if (onText === "") problems.add("onText: must not be empty, for every text contains that");
    return { words: `contains ${shortened(JSON.stringify(onText))}`, test: (text) => text.includes(onText) };
  }
  const inner = new Problems(onText, ["regex"]);
  const { regex } = (onText ?? {}) as { readonly regex?: unknown };
  const compiled =
    typeof regex === "string" && regex !== ""
      ? compileRegex(regex)
      : { ok: false as const, problem: 'must be a regular expression as a non-empty string, such as "^DONE$"' };
  if (!compiled.ok) inner.add(`regex: ${compiled.problem}`);
  problems.include("onText", inner);
  return compiled.ok ? { words: `fits /${shortened(String(regex))}/`, test: compiled.test } : undefined;
}

const mostWords = 200;

/** Short enough for a detail, and a text whatever it is cut from. */
export function shortened(text: string): string {
  return (text.length > mostWords ? `${text.slice(0, mostWords)}…` : text).toWellFormed();
}
