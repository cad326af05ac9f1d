/**
 * Output: the typed answer of an agent. A candidate is what the model said; it is the output only once it was checked and
 * the report is in the journal.
 *
 * O1 A value is told as output only after its `output-validated` entry; what did not pass is never told as output.
 * O2 A candidate that does not fit is shown to the model with its problems, as often as `repairs` says, and no more.
 */
import { answerTool } from "./answer-tool.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { jsonSchemaOf } from "./json-schema.ts";
import type { DescribedModel } from "./model.ts";
import type { Problems } from "./problems.ts";
import { isStandardSchema, type StandardSchema } from "./standard-schema.ts";

/**
 * How the model is asked for it. native: the provider binds the model to the schema; tool: the model calls a tool whose
 * input is the answer; text: it is told the schema in words. The check is the same.
 */
export type OutputMode = "native" | "tool" | "text";

/** What an agent declares of its output. */
export interface OutputSpec {
  readonly schema: JsonObject;
  readonly mode: OutputMode;
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
  readonly outputMode?: unknown;
  readonly model?: unknown;
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
    for (const name of ["outputMode", "repairs", "onInvalid"] as const) {
      if (output === undefined && options?.[name] !== undefined) problems.add(`${name}: needs output`);
    }
    return undefined;
  }
  const schema = jsonSchemaOf(output, "output", problems);
  const mode = modeFor(options?.outputMode, options?.model, problems);
  return {
    schema: output,
    spec: { schema, mode, repairs: repairs as number, onInvalid: onInvalid as OutputSpec["onInvalid"] },
  };
}

/**
 * The strongest way that the model says it has. One that says nothing is asked for text: every model writes text, and one
 * that is offered a tool it cannot call gives no answer at all.
 */
function modeFor(given: unknown, model: unknown, problems: Problems): OutputMode {
  problems.oneOf("outputMode", ["native", "tool", "text"]);
  if (typeof model === "string") return (given ?? "text") as OutputMode; // a route: asked again when the model is found
  const { structuredOutput, toolCalls } = (model as Partial<DescribedModel> | null | undefined)?.description ?? {};
  if (given === "native" && structuredOutput !== true)
    problems.add("outputMode: native needs a model with structuredOutput; nothing would bind this one to the schema");
  if (given === "tool" && toolCalls === false) problems.add("outputMode: the model cannot call tools");
  if (given !== undefined) return given as OutputMode;
  if (structuredOutput === true) return "native";
  return toolCalls === true ? "tool" : "text";
}

/** What the model is told of how to answer; nothing where it is bound. */
export function outputHint({ schema, mode }: OutputSpec): string | undefined {
  switch (mode) {
    case "native":
      return undefined;
    case "tool":
      return `Give your final answer by calling ${answerTool}, alone and once. Text is not taken as the answer.`;
    default:
      return `Give your final answer as JSON and nothing else. It must fit this JSON Schema:\n${JSON.stringify(schema)}`;
  }
}

export function repairRequest(problems: readonly string[], { mode }: OutputSpec): string {
  const again =
    mode === "tool"
      ? `Call ${answerTool} with an answer that fits`
      : "Answer again, with JSON that fits and nothing else";
  return `Your answer does not fit the schema: ${problems.join("; ")}. ${again}.`;
}
