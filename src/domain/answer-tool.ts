/**
 * The answer tool: how a model that calls tools, but cannot be bound to a schema, gives its final answer. Its input schema
 * is the output schema, and a call of it is a candidate for the output, not an effect.
 */
import type { JsonObject, JsonValue } from "./json.ts";

export const answerTool = "holdfast_answer";

const ours = "holdfast_";

/** Names that no tool of a user can have. */
export function isReserved(name: string): boolean {
  return name.startsWith(ours);
}

export const reservedName: string = `names that begin with ${ours} are Holdfast's own`;

export interface AnswerTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

export function answerToolFor(schema: JsonObject): AnswerTool {
  return {
    name: answerTool,
    description: "Gives the final answer. Call it alone and once, when everything else is done.",
    inputSchema: isWrapped(schema) ? wrapped(schema) : schema,
  };
}

/** What a call's input is a candidate of: the input itself, or what was wrapped in it; undefined when that is not there. */
export function answerIn(schema: JsonObject, input: JsonValue): JsonValue | undefined {
  if (!isWrapped(schema)) return input;
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  const isOurs = isObject && Object.keys(input).length === 1 && Object.hasOwn(input, wrapper);
  return isOurs ? (input as JsonObject)[wrapper] : undefined;
}

/** The one property of the object that is around an answer which is none itself: the input of a tool always is one. */
export const wrapper = "answer";

function isWrapped({ type }: JsonObject): boolean {
  return type !== "object";
}

const definitions = ["$defs", "definitions"];

/** Definitions stay at the top, where providers look for them; what else refers to the top refers to one level below. */
function wrapped(schema: JsonObject): JsonObject {
  const [shared, own] = [{}, {}] as [Record<string, JsonValue>, Record<string, JsonValue>];
  for (const [key, value] of Object.entries(schema)) {
    if (definitions.includes(key)) shared[key] = eachMoved(value);
    else if (key !== "$schema") own[key] = value;
  }
  return {
    ...shared,
    type: "object",
    properties: { [wrapper]: moved(own) },
    required: [wrapper],
    additionalProperties: false,
  };
}

/** Keywords whose value is data, whatever it looks like, and those whose value has schemas by name. */
const data = ["const", "enum", "default", "examples"];
const named = [...definitions, "properties", "patternProperties", "dependentSchemas"];
const references = ["$ref", "$dynamicRef"];

function moved(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map((item: JsonValue) => moved(item));
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]): [string, JsonValue] => {
    if (data.includes(key)) return [key, value];
    if (named.includes(key)) return [key, eachMoved(value)];
    return [key, references.includes(key) && typeof value === "string" ? movedReference(value) : moved(value)];
  });
  return Object.fromEntries(entries);
}

function eachMoved(schemas: JsonValue): JsonValue {
  if (typeof schemas !== "object" || schemas === null || Array.isArray(schemas)) return schemas;
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, moved(schema)]));
}

function movedReference(reference: string): string {
  const isShared = definitions.some((key) => reference.startsWith(`#/${key}/`));
  if (isShared || (reference !== "#" && !reference.startsWith("#/"))) return reference;
  return `#/properties/${wrapper}${reference.slice(1)}`;
}
