import type { JsonObject, JsonValue } from "../domain/json.ts";

/** JSON Schema validation for a process that has the manifest but not the code. */
export interface SchemaChecker {
  /** Every problem, in words; empty when the value fits. */
  problems(schema: JsonObject, value: JsonValue): Promise<readonly string[]>;
}
