/**
 * The order in which something was written down means nothing where it is a set: such lists are sorted once, when a tool or
 * an agent is defined, so that the fingerprint, the difference of two manifests and what the model is shown agree (M1).
 */
import type { ApprovalTerms, Audience } from "./approval.ts";
import type { JsonObject, JsonValue } from "./json.ts";

export function sorted<T extends string>(set: readonly T[]): readonly T[] {
  return [...set].sort();
}

const schemaWords = new Set([
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
const schemaLists = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const schemaMaps = new Set(["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"]);

/** Only where a schema stands: a default or an enum is somebody's data, whatever its fields are called. */
export function schemaInOrder(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).map(([word, value]) => [word, wordInOrder(word, value)]));
}

function wordInOrder(word: string, value: JsonValue): JsonValue {
  if (word === "required") return setInOrder(value);
  if (word === "dependentRequired") return mapped(value, setInOrder);
  if (schemaWords.has(word)) return inner(value);
  if (schemaLists.has(word)) return Array.isArray(value) ? value.map(inner) : value;
  return schemaMaps.has(word) ? mapped(value, inner) : value;
}

function inner(value: JsonValue): JsonValue {
  return isObject(value) ? schemaInOrder(value) : value;
}

function mapped(value: JsonValue, change: (value: JsonValue) => JsonValue): JsonValue {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each)]));
}

function setInOrder(value: JsonValue): JsonValue {
  const isSet = Array.isArray(value) && value.every((each) => typeof each === "string");
  return isSet ? sorted(value as readonly string[]) : value;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function termsInOrder(terms: ApprovalTerms): ApprovalTerms {
  const { audience, escalate } = terms;
  return {
    ...terms,
    ...(audience ? { audience: audienceInOrder(audience) } : {}),
    ...(escalate ? { escalate: { ...escalate, audience: audienceInOrder(escalate.audience) } } : {}),
  };
}

function audienceInOrder({ principals, roles }: Audience): Audience {
  return { ...(principals ? { principals: sorted(principals) } : {}), ...(roles ? { roles: sorted(roles) } : {}) };
}
