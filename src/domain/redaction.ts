/**
 * Redaction: what may not be seen is taken out of what leaves the house: logs, traces, errors that are thrown, sinks. It is
 * a view. The journal keeps what was said.
 *
 * X1 Everything that a rule covers is hidden; where rules overlap, all of what any of them covers.
 * X2 A rule that fails hides the whole text: what nobody could check is not shown.
 * X3 What no rule covers is not changed, and what is given is never changed itself.
 */
import { type Detector, type DetectorName, detectorNames, detectors } from "./detectors.ts";
import type { JsonValue } from "./json.ts";
import { compileRegex } from "./patterns/linear-regex.ts";
import type { Span } from "./patterns/spans.ts";
import { isFunction, Problems, shown } from "./problems.ts";
import { isSecret, type Secret, secretMark } from "./secret.ts";

export interface RedactOptions {
  /** Fields, wherever they lie: `password`, `headers.authorization`, `cards.*.number`. Upper and lower case are the same. */
  readonly paths?: readonly string[];
  /** Regular expressions without back references and look-around, in front `(?i)` for any case; or the text of a secret. */
  readonly patterns?: readonly (string | Secret)[];
  /** Those of the house by name, and your own; all of the house unless said. */
  readonly detectors?: readonly (DetectorName | Detector)[];
}

export interface Redactor {
  text(text: string): string;
  json(value: JsonValue): JsonValue;
  /** Whether the field at the end of this way is hidden whatever it holds. */
  hides(way: readonly string[]): boolean;
}

interface Rule extends Detector {
  readonly mark: string;
}

const most = 1_000;

/** Undefined stands for all detectors of the house. Problems are added, and what is wrong is left out. */
export function readRedaction(options: RedactOptions | undefined, problems: Problems): Redactor {
  const inner = new Problems(options ?? {}, ["paths", "patterns", "detectors"]);
  for (const name of ["paths", "patterns", "detectors"]) {
    inner.optional(name, (list) => Array.isArray(list) && list.length <= most, `must be a list of at most ${most}`);
  }
  const paths = listOf(options?.paths).flatMap((path, index) => readPath(path, index, inner));
  const rules = [
    ...listOf(options?.patterns).flatMap((pattern, index) => readPattern(pattern, index, inner)),
    ...listOf(options?.detectors ?? detectorNames).flatMap((each, index) => readDetector(each, index, inner)),
  ];
  problems.include("redact", inner);
  return createRedactor(rules, paths);
}

function listOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : [];
}

function readPath(path: unknown, index: number, problems: Problems): readonly (readonly string[])[] {
  const steps = typeof path === "string" ? path.toLowerCase().split(".") : [];
  if (steps.length > 0 && steps.every((step) => step !== "") && steps.at(-1) !== "*") return [steps];
  problems.add(`paths[${index}]: ${shown(path)} must be names with dots between them, the last one not "*"`);
  return [];
}

function readPattern(pattern: unknown, index: number, problems: Problems): readonly Rule[] {
  if (isSecret(pattern)) {
    return [{ name: "secret", mark: secretMark, find: (text) => literally(text, pattern.reveal()) }];
  }
  if (typeof pattern !== "string" || pattern === "") {
    problems.add(`patterns[${index}]: must be the text of a regular expression, or a secret`);
    return [];
  }
  const compiled = compileRegex(pattern);
  if (compiled.ok) return [ruleOf({ name: "pattern", find: compiled.spans })];
  problems.add(`patterns[${index}]: ${compiled.problem}`);
  return [];
}

function readDetector(given: unknown, index: number, problems: Problems): readonly Rule[] {
  const own = given as Partial<Detector> | null;
  if (isFunction(own?.find) && typeof own.name === "string") return [ruleOf({ name: own.name, find: own.find })];
  const name = detectorNames.find((each) => each === given);
  if (name) return [ruleOf({ name, find: detectors[name] })];
  problems.add(`detectors[${index}]: must be { name, find } or one of ${detectorNames.join(", ")}`);
  return [];
}

function ruleOf(detector: Detector): Rule {
  return { ...detector, mark: `[redacted: ${detector.name}]` };
}

function* literally(text: string, value: string): Iterable<Span> {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) yield [at, at + value.length];
}

function createRedactor(rules: readonly Rule[], paths: readonly (readonly string[])[]): Redactor {
  const hides = (way: readonly string[]): boolean => paths.some((path) => endsWith(way, path));
  const text = (given: string): string => redactText(given, rules);
  const json = (value: JsonValue, way: readonly string[] = []): JsonValue => {
    if (hides(way)) return "[redacted: path]";
    if (typeof value === "string") return text(value);
    if (typeof value === "number") return redactNumber(value, text);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item: JsonValue, index) => json(item, [...way, String(index)]));
    const fields = Object.entries(value).map(([name, field]) => [text(name), json(field, [...way, name])] as const);
    return Object.fromEntries(fields);
  };
  return { text, hides, json: (value) => json(value) };
}

function endsWith(way: readonly string[], path: readonly string[]): boolean {
  const from = way.length - path.length;
  return from >= 0 && path.every((step, index) => step === "*" || step === way[from + index]?.toLowerCase());
}

/** A card's number may have been written as a number. */
function redactNumber(value: number, text: Redactor["text"]): JsonValue {
  const said = String(value);
  const seen = text(said);
  return seen === said ? value : seen;
}

/** X1, X2. */
function redactText(text: string, rules: readonly Rule[]): string {
  let at = 0;
  let seen = "";
  for (const { from, to, mark } of coveredBy(rules, text)) {
    if (from >= at) seen += text.slice(at, from) + mark;
    at = Math.max(at, to);
  }
  return seen + text.slice(at);
}

interface Covered {
  readonly from: number;
  readonly to: number;
  readonly mark: string;
}

function coveredBy(rules: readonly Rule[], text: string): readonly Covered[] {
  const covered = rules.flatMap(({ find, mark }) => {
    try {
      return Array.from(find(text), ([from, to]): Covered => ({ from, to, mark })).filter(isSpan);
    } catch {
      return [{ from: 0, to: text.length, mark }];
    }
  });
  return covered.sort((a, b) => a.from - b.from || b.to - a.to);
}

/** X2: a detector that does not answer with places has failed. */
function isSpan({ from, to }: Covered): boolean {
  if (!Number.isInteger(from) || !Number.isInteger(to) || from < 0) throw new RangeError("no place in a text");
  return to > from;
}
