/** JSON Schema through ajv, loaded on first use so that importing the package stays cheap. */
import type { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject } from "../domain/json.ts";
import type { SchemaChecker } from "../ports/schema-checker.ts";

export function createAjvChecker(): SchemaChecker {
  let loading: Promise<Ajv2020> | undefined;
  // Keyed by the schema object: stores hand out one per manifest read, so compiled code dies with it.
  const compiled = new WeakMap<JsonObject, ReturnType<Ajv2020["compile"]>>();
  return {
    async problems(schema, value) {
      loading ??= load();
      const ajv = await loading;
      let validate = compiled.get(schema);
      if (!validate) {
        validate = ajv.compile(schema);
        compiled.set(schema, validate);
      }
      if (validate(value)) return [];
      return (validate.errors ?? []).map((error) => `$${error.instancePath} ${error.message ?? "does not fit"}`);
    },
  };
}

async function load(): Promise<Ajv2020> {
  const { Ajv2020: Ajv } = await import("ajv/dist/2020.js");
  return new Ajv({ allErrors: true, strict: false, validateFormats: false, addUsedSchema: false });
}
