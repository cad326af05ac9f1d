/**
 * Output: the typed answer of an agent. A candidate is what the model said; it is the output only once it was checked and
 * the report is in the journal.
 *
 * O1 A value is told as output only after its `output-validated` entry; what did not pass is never told as output.
 * O2 A candidate that does not fit is shown to the model with its problems, as often as `repairs` says, and no more.
 */
import type { JsonObject, JsonValue } from "./json.ts";
import { messageOf, shortened, toJson } from "./json.ts";
import { jsonSchemaOf } from "./json-schema.ts";
import { isFunction, type Problems } from "./problems.ts";
import { isStandardSchema, type StandardSchema, showIssues } from "./standard-schema.ts";

/** What an agent declares of its output. */
export interface OutputSpec {
  readonly schema: JsonObject;
  /** How often the model is shown what is wrong with its answer. */
  readonly repairs: number;
  /** How the run ends when it is still wrong then: as failed, or as stopped. */
  readonly onInvalid: "fail" | "stop";
}

export interface AgentOutput {
  readonly spec: OutputSpec;
  readonly schema: StandardSchema;
}

export type OutputReport =
  | { readonly valid: true; readonly value: JsonValue }
  | { readonly valid: false; readonly problems: readonly string[] };

interface OutputOptions {
  readonly output?: unknown;
  readonly repairs?: unknown;
  readonly onInvalid?: unknown;
}

const defaultRepairs = 2;
export const mostRepairs = 20;

export function readOutput(options: OutputOptions | undefined, problems: Problems): AgentOutput | undefined {
  problems.optional("output", isStandardSchema, "must be a Standard Schema, or jsonSchema({ … })");
  problems.integer("repairs", 0, mostRepairs);
  problems.oneOf("onInvalid", ["fail", "stop"]);
  const { output, repairs = defaultRepairs, onInvalid = "fail" } = options ?? {};
  if (!isStandardSchema(output)) {
    for (const name of ["repairs", "onInvalid"] as const) {
      if (output === undefined && options?.[name] !== undefined) problems.add(`${name}: needs output`);
    }
    return undefined;
  }
  const schema = jsonSchemaOf(output, "output", problems);
  return {
    schema: output,
    spec: { schema, repairs: repairs as number, onInvalid: onInvalid as OutputSpec["onInvalid"] },
  };
}

/** What the candidate comes to. A schema that throws has refused it. */
export function checkOutput(schema: StandardSchema, text: string): OutputReport | Promise<OutputReport> {
  const parsed = parse(text);
  if (!parsed.ok) return { valid: false, problems: [parsed.problem] };
  try {
    const result = schema["~standard"].validate(parsed.value);
    return isPromise(result) ? Promise.resolve(result).then(report, threw) : report(result);
  } catch (cause) {
    return threw(cause);
  }
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return isFunction((value as { then?: unknown } | null)?.then);
}

type Result = Awaited<ReturnType<StandardSchema["~standard"]["validate"]>>;

function report(result: Result): OutputReport {
  if (result.issues) return { valid: false, problems: [shortened(showIssues(result.issues))] };
  const json = toJson(result.value);
  if (json.ok) return { valid: true, value: json.value };
  return { valid: false, problems: [`What the schema makes of it is not JSON at ${json.path}: ${json.problem}`] };
}

function threw(cause: unknown): OutputReport {
  return { valid: false, problems: [`Checking it threw: ${messageOf(cause)}`] };
}

const fence = /^```[a-zA-Z]*\n([\s\S]*)\n```$/;

/** JSON, or JSON in one code fence, as models like to write it. */
function parse(
  text: string,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string } {
  const trimmed = text.trim();
  try {
    return { ok: true, value: JSON.parse(fence.exec(trimmed)?.[1] ?? trimmed) };
  } catch (cause) {
    return { ok: false, problem: `It is not JSON: ${messageOf(cause)}` };
  }
}

/** What a model that cannot be bound to a schema is told. */
export function outputHint({ schema }: OutputSpec): string {
  return `Give your final answer as JSON and nothing else. It must fit this JSON Schema:\n${JSON.stringify(schema)}`;
}

export function repairRequest(problems: readonly string[]): string {
  return `Your answer does not fit the schema: ${problems.join("; ")}. Answer again, with JSON that fits and nothing else.`;
}
