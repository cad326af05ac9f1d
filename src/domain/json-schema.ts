/** JSON Schema of a Standard Schema, or a problem that names the option. */
import { type JsonObject, messageOf, toJson } from "./json.ts";
import type { Problems } from "./problems.ts";
import type { StandardSchema } from "./standard-schema.ts";
import { schemaInOrder } from "./written-order.ts";

export function jsonSchemaOf(schema: StandardSchema, option: string, problems: Problems): JsonObject {
  const converter = schema["~standard"].jsonSchema;
  if (!converter) {
    problems.add(`${option}: ${schema["~standard"].vendor} offers no JSON Schema through Standard Schema`);
    return {};
  }
  try {
    const given: unknown = converter.input({ target: "draft-2020-12" });
    const isSchema = typeof given === "object" && given !== null && !Array.isArray(given) && !("then" in given);
    if (!isSchema) throw new TypeError("it must be given at once, as an object");
    const converted = toJson(given);
    if (converted.ok) return schemaInOrder(converted.value as JsonObject);
    problems.add(`${option}: its JSON Schema is not JSON at ${converted.path}: ${converted.problem}`);
  } catch (cause) {
    problems.add(`${option}: cannot be converted to JSON Schema: ${messageOf(cause)}`);
  }
  return {};
}
