/** What a call must have come to for a reminder. */
import type { CallResult } from "../../domain/message.ts";
import { Problems } from "../../domain/problems.ts";
import { compileGlob } from "../shared/glob.ts";
import { compileValueMatch, textOf, type ValueMatch } from "../shared/value-match.ts";

export type OutputMatch = (result: CallResult) => boolean;

const always: OutputMatch = () => true;

/** Undefined when there is a problem with it, which is added. */
export function readOutput(output: unknown, problems: Problems): OutputMatch | undefined {
  if (output === undefined || output === "any") return always;
  if (typeof output !== "object" || output === null || Array.isArray(output)) {
    problems.add('output: must be "any" or { status, content, fields }');
    return undefined;
  }
  const inner = new Problems(output, ["status", "content", "fields"]);
  inner.oneOf("status", ["value", "error"]);
  inner.optional("content", (glob) => typeof glob === "string" && glob !== "", "must be a glob, such as *warning*");
  const { status, content, fields } = output as Readonly<Record<string, unknown>>;
  if (status === undefined && content === undefined && fields === undefined) {
    inner.add('status: one of status, content and fields is needed; for every output write "any"');
  }
  if (status === "error" && fields !== undefined) inner.add("fields: are of a value, and an error has none");
  const matches = fields === undefined ? undefined : readFields(fields, inner);
  problems.include("output", inner);
  return all([
    ...(status === undefined ? [] : [(result: CallResult) => result.kind === status]),
    ...(typeof content === "string" ? [contentMatch(content)] : []),
    ...(matches ? [fieldsMatch(matches)] : []),
  ]);
}

function all(matches: readonly OutputMatch[]): OutputMatch {
  return (result) => matches.every((match) => match(result));
}

function contentMatch(glob: string): OutputMatch {
  const { test } = compileGlob(glob);
  return (result) => test(wordsOf(result));
}

/** What the model reads. */
function wordsOf(result: CallResult): string {
  return result.kind === "error" ? result.message : (result.say ?? textOf(result.value));
}

function readFields(fields: unknown, problems: Problems): readonly ValueMatch[] {
  if (!Array.isArray(fields) || fields.length === 0) {
    problems.add("fields: must be a list of one or more { path, op, value }");
    return [];
  }
  return fields.flatMap((field: unknown, index) => {
    const match = compileValueMatch(field);
    if (match.ok) return [match.value];
    problems.add(`fields[${index}]: ${match.problem}`);
    return [];
  });
}

/** An error has no fields, so not even a negated operator holds of it. */
function fieldsMatch(matches: readonly ValueMatch[]): OutputMatch {
  return (result) => result.kind === "value" && matches.every((match) => match.matches(result.value));
}
