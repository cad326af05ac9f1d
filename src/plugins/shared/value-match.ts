/**
 * Whether a JSON value has, at a path, what an operator asks for: `~` glob, `=` exact text, `=~` regular expression,
 * and their negations `!~`, `!=`, `!=~`. Values are compared as text: a string is itself, all else is its JSON with
 * sorted keys, so the order of keys hides nothing.
 *
 * V1 A positive operator holds when at least one value at the path fits. A missing path has no values.
 * V2 A negated operator holds exactly when its positive twin does not: no value at the path fits. So it holds when the
 *    path is missing, and with `*` and `[*]` it speaks about all values, not about some.
 * V3 Every value is looked at whole, however long.
 */
import type { JsonValue } from "../../domain/json.ts";
import { compileRegex } from "../../domain/patterns/linear-regex.ts";
import { type Parsed, parsed, Reader } from "../../domain/patterns/reader.ts";
import { compileGlob } from "./glob.ts";
import { readPath, type ValuePath, valuesAt } from "./value-path.ts";

export const valueOps = ["~", "=", "=~", "!~", "!=", "!=~"] as const;
export type ValueOp = (typeof valueOps)[number];

export interface ValueMatch {
  /** 3 for one text, 2 for a glob, 1 for a regular expression. */
  readonly precision: 1 | 2 | 3;
  matches(value: JsonValue): boolean;
}

/** From a configured field. */
export function compileValueMatch(field: unknown): Parsed<ValueMatch> {
  if (typeof field !== "object" || field === null) return { ok: false, problem: "must be { path, op, value }" };
  const strange = Object.keys(field).find((key) => !["path", "op", "value"].includes(key));
  if (strange !== undefined) return { ok: false, problem: `${strange}: unknown; known are path, op, value` };
  const { path, op, value } = field as Readonly<Record<string, unknown>>;
  if (typeof path !== "string") return { ok: false, problem: "path: must be a string such as a.b or items[*].name" };
  if (!isValueOp(op)) return { ok: false, problem: `op: must be one of ${valueOps.join(" ")}` };
  if (typeof value !== "string") return { ok: false, problem: "value: must be a string" };
  const steps = parsed(() => readWholePath(path));
  if (!steps.ok) return { ok: false, problem: `path: ${steps.problem}` };
  const match = matchAt(steps.value, op, value);
  return match.ok ? match : { ok: false, problem: `value: ${match.problem}` };
}

function isValueOp(op: unknown): op is ValueOp {
  return (valueOps as readonly unknown[]).includes(op);
}

function readWholePath(text: string): ValuePath {
  const reader = new Reader(text);
  const path = readPath(reader);
  return reader.done ? path : reader.refuse(`unexpected "${reader.peek()}" in a path`);
}

export function matchAt(path: ValuePath, op: ValueOp, value: string): Parsed<ValueMatch> {
  const positive = compileText(op.replace("!", ""), value);
  if (!positive.ok) return positive;
  const { test, precision } = positive.value;
  const finds = (whole: JsonValue): boolean => valuesAt(whole, path).some((each) => test(textOf(each)));
  const matches = op.startsWith("!") ? (whole: JsonValue): boolean => !finds(whole) : finds;
  return { ok: true, value: { precision, matches } };
}

interface TextTest {
  readonly precision: 1 | 2 | 3;
  test(text: string): boolean;
}

function compileText(op: string, value: string): Parsed<TextTest> {
  if (op === "=") return { ok: true, value: { precision: 3, test: (text) => text === value } };
  if (op === "~") return { ok: true, value: globTest(value) };
  const regex = compileRegex(value);
  return regex.ok ? { ok: true, value: { precision: 1, test: regex.test } } : regex;
}

/** A glob without wildcards fits one text, and counts as exact. */
export function globTest(pattern: string): TextTest {
  const glob = compileGlob(pattern);
  return { precision: glob.isExact ? 3 : 2, test: glob.test };
}

/** A value as the text that patterns look at. */
export function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : sortedJson(value);
}

function sortedJson(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(",")}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${sortedJson(inner)}`).join(",")}}`;
}
