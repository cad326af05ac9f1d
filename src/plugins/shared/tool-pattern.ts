/**
 * Tool patterns: which calls a rule is about. `Name`, `glob*` or `/regex/` (flags i and s may follow), then optionally:
 *
 *   (*)                        any input, as without parentheses
 *   (text*)                    a glob over the primary value: the only field's value, else the whole input as JSON text
 *   (path op "value", …)       fields that must all hold; see `value-match.ts` and `value-path.ts`
 *
 * A name is compared whole, a regular expression is found anywhere unless `^` and `$` bind it.
 *
 * P1 The cost of a match is at most proportional to pattern × input (N1), whatever both are.
 * P2 The whole input is looked at; padding hides nothing. Neither does the order of keys.
 * P3 A negated operator holds exactly when its positive twin does not (V2).
 * P4 What is not understood is refused with its place; nothing is guessed, and no pattern is accepted that could fit no
 *    tool's name.
 * P5 Specificity is a total preorder: any two patterns can be compared, and equal ones are equal for every third.
 *
 * A primary value changes when a call has a second field, so a rule that forbids names its field: `run(command ~ "rm *")`.
 */
import type { JsonValue } from "../../domain/json.ts";
import { compileRegex } from "../../domain/patterns/linear-regex.ts";
import { parsed, Reader } from "../../domain/patterns/reader.ts";
import { toolNamePattern } from "../../domain/tool.ts";
import { compileGlob } from "./glob.ts";
import { readArgs, type ToolArgs } from "./tool-args.ts";

/** Compared in this order; more is more specific. */
export interface Specificity {
  /** 3 exact name, 2 glob, 1 regular expression. */
  readonly tool: 1 | 2 | 3;
  readonly hasArgs: boolean;
  readonly fields: number;
  /** The sum over the fields: 3 for one text, 2 for a glob, 1 for a regular expression. */
  readonly precision: number;
}

export interface ToolPattern {
  readonly text: string;
  readonly specificity: Specificity;
  /** No input is asked about: no parentheses, or `(*)`. */
  readonly isUnconditional: boolean;
  /** The one tool it is about, when its name is exact. */
  readonly exactTool?: string;
  matches(tool: string, input: JsonValue): boolean;
}

export type ParsedToolPattern =
  | { readonly ok: true; readonly pattern: ToolPattern }
  | { readonly ok: false; readonly problem: string };

const longestPattern = 2_000;

export function parseToolPattern(text: unknown): ParsedToolPattern {
  if (typeof text !== "string") return { ok: false, problem: `a tool pattern is a string, got ${typeof text}` };
  if (text.length > longestPattern) {
    return { ok: false, problem: `${text.length} characters of tool pattern, the limit is ${longestPattern}` };
  }
  const read = parsed(() => readPattern(text));
  return read.ok ? { ok: true, pattern: read.value } : read;
}

/** Above 0 when `a` is more specific than `b`, 0 when neither is. */
export function compareSpecificity(a: ToolPattern, b: ToolPattern): number {
  const [x, y] = [a.specificity, b.specificity];
  return x.tool - y.tool || Number(x.hasArgs) - Number(y.hasArgs) || x.fields - y.fields || x.precision - y.precision;
}

interface ToolName {
  readonly kind: 1 | 2 | 3;
  readonly exact?: string;
  test(tool: string): boolean;
}

function readPattern(text: string): ToolPattern {
  const reader = new Reader(text);
  reader.skipSpace();
  if (reader.done) reader.refuse("empty tool pattern");
  const name = reader.sees("/") ? readRegexName(reader) : readName(reader);
  reader.skipSpace();
  const args: ToolArgs = reader.done ? [] : readArgs(reader);
  reader.skipSpace();
  if (!reader.done) reader.refuse(`unexpected "${reader.peek()}" after the pattern's end`);
  return {
    text,
    specificity: {
      tool: name.kind,
      hasArgs: args.length > 0,
      fields: args.length,
      precision: args.reduce((sum, each) => sum + each.precision, 0),
    },
    isUnconditional: args.length === 0,
    ...(name.exact === undefined ? {} : { exactTool: name.exact }),
    matches: (tool, input) => name.test(tool) && args.every((each) => each.matches(input)),
  };
}

function readName(reader: Reader): ToolName {
  const at = reader.at;
  const name = reader.takeWhile((char) => /[\w*?-]/.test(char));
  if (name === "") reader.refuse(`a tool's name cannot begin with "${reader.peek()}"`, at);
  const { isExact, test } = compileGlob(name);
  if (!isExact) return { kind: 2, test };
  if (!toolNamePattern.test(name)) reader.refuse(`no tool can have this name (it must match ${toolNamePattern})`, at);
  return { kind: 3, exact: name, test };
}

/** From "/" to its closing "/" and the flags after it, as in JavaScript. */
function readRegexName(reader: Reader): ToolName {
  const at = reader.at;
  const written = /^\/((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[])*)\/([a-z]*)/s.exec(reader.text.slice(at));
  if (!written) return reader.refuse('unclosed regular expression (it ends with a "/" outside of [ ])', at);
  const [all, source = "", flags] = written;
  if (source === "") reader.refuse("empty regular expression", at);
  reader.at += all.length;
  const regex = compileRegex(source, flags);
  return regex.ok ? { kind: 1, test: regex.test } : reader.refuse(`${regex.problem} of the regular expression`, at);
}
