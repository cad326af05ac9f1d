/**
 * A JSON Schema that somebody else wrote, as a Standard Schema. Its owner checks inputs too; ours is the earlier answer.
 *
 * Y1 It is compiled before it is used, and one that cannot be is named, not trusted.
 * Y2 Its patterns run in the engine without backtracking. If one cannot, only "an object" is checked here: nobody may stop
 *    this process with an expression of theirs.
 * Y3 Schemas of older drafts mean what they meant: a list under `items` is a tuple.
 */
import type { Ajv2020 } from "ajv/dist/2020.js";
import { type JsonObject, type JsonValue, messageOf, toJson } from "../domain/json.ts";
import { compileRegex } from "../domain/patterns/linear-regex.ts";
import type { SchemaResult, StandardSchema } from "../domain/standard-schema.ts";

type Validate = ReturnType<Ajv2020["compile"]>;

export interface ForeignSchema extends StandardSchema {
  /** Y1. Undefined when it can be used. */
  problem(): Promise<string | undefined>;
}

export function foreignSchema(given: JsonObject): ForeignSchema {
  const schema = modern(given) as JsonObject;
  const checked: JsonObject = patternsOf(schema).every((pattern) => compileRegex(pattern).ok)
    ? schema
    : { type: "object" };
  const asGiven = (): Record<string, unknown> => schema as Record<string, unknown>;
  let validate: Validate | undefined;
  const compile = async (): Promise<Validate> => {
    validate ??= (await ajv()).compile(checked);
    return validate;
  };
  return {
    problem: () =>
      compile().then(
        () => undefined,
        (cause: unknown) => messageOf(cause).slice(0, 500),
      ),
    "~standard": {
      version: 1,
      vendor: "holdfast-json-schema",
      validate(value) {
        const json = toJson(value);
        if (!json.ok) return { issues: [{ message: `not JSON at ${json.path}: ${json.problem}` }] };
        // At once when it is compiled: a verdict that nobody waits for joins the commit of the answer.
        return validate ? judged(validate, json.value) : compile().then((ready) => judged(ready, json.value));
      },
      jsonSchema: { input: asGiven, output: asGiven },
    },
  };
}

function judged(validate: Validate, value: JsonValue): SchemaResult<unknown> {
  if (validate(value)) return { value };
  const issues = (validate.errors ?? []).slice(0, 20);
  return { issues: issues.map((error) => ({ message: `$${error.instancePath} ${error.message ?? "does not fit"}` })) };
}

let loading: Promise<Ajv2020> | undefined;

function ajv(): Promise<Ajv2020> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Ajv2020> {
  const { Ajv2020: Ajv } = await import("ajv/dist/2020.js");
  const options = {
    allErrors: true,
    strict: false,
    validateFormats: false,
    addUsedSchema: false,
    logger: false,
  } as const;
  return new Ajv({ ...options, code: { regExp: Object.assign(linear, { code: "linear" }) } });
}

/** Y2. Only patterns that were looked at come here. ajv tells them apart by their text. */
function linear(pattern: string): { test(text: string): boolean; toString(): string } {
  const compiled = compileRegex(pattern);
  if (!compiled.ok) throw new SyntaxError(compiled.problem);
  return { test: compiled.test, toString: () => pattern };
}

/** Wherever they stand, also in parts that nothing refers to. */
function patternsOf(value: JsonValue): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(patternsOf);
  return Object.entries(value).flatMap(([key, item]) => {
    if (key === "pattern" && typeof item === "string") return [item];
    const keys = key === "patternProperties" && typeof item === "object" && item !== null ? Object.keys(item) : [];
    return [...keys, ...patternsOf(item)];
  });
}

/** Y3. The dialect's name goes: it would be looked up, and we have one dialect. */
function modern(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(modern);
  const fields = Object.entries(value).filter(([key, item]) => key !== "$schema" || typeof item !== "string");
  const changed = Object.fromEntries(fields.map(([key, item]) => [key, modern(item)])) as Record<string, JsonValue>;
  if (!Array.isArray(changed.items)) return changed;
  const { items, additionalItems, ...others } = changed;
  return { ...others, prefixItems: items ?? [], ...(additionalItems === undefined ? {} : { items: additionalItems }) };
}
