/** A JSON Schema as a Standard Schema: for outputs and inputs that are described as data. Checked by ajv, on first use. */
import { type JsonObject, toJson } from "../domain/json.ts";
import type { StandardSchema } from "../domain/standard-schema.ts";
import { createAjvChecker, schemaProblem } from "./ajv-checker.ts";

export function jsonSchema<Value = unknown>(schema: JsonObject): StandardSchema<Value> {
  const checker = createAjvChecker();
  /** Asked by agent() and tool(): a schema that could check nothing is refused there, not in the middle of a run. */
  const asGiven = (): Record<string, unknown> => {
    const problem = schemaProblem(schema);
    if (problem) throw new TypeError(problem);
    return schema as Record<string, unknown>;
  };
  return {
    "~standard": {
      version: 1,
      vendor: "holdfast-json-schema",
      async validate(value) {
        const json = toJson(value);
        if (!json.ok) return { issues: [{ message: `not JSON at ${json.path}: ${json.problem}` }] };
        const problems = await checker.problems(schema, json.value);
        if (problems.length > 0) return { issues: problems.map((message) => ({ message })) };
        return { value: json.value as Value };
      },
      jsonSchema: { input: asGiven, output: asGiven },
    },
  };
}
