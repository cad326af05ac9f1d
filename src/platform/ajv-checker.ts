/** JSON Schema through ajv, loaded on first use so that importing the package stays cheap. */
import { createRequire } from "node:module";
import type * as ajv from "ajv/dist/2020.js";
import { type JsonObject, messageOf } from "../domain/json.ts";
import type { SchemaChecker } from "../ports/schema-checker.ts";

export function createAjvChecker(): SchemaChecker {
  let loading: Promise<ajv.Ajv2020> | undefined;
  // Keyed by the schema object: stores hand out one per manifest read, so compiled code dies with it.
  const compiled = new WeakMap<JsonObject, ReturnType<ajv.Ajv2020["compile"]>>();
  return {
    async problems(schema, value) {
      loading ??= load();
      const checks = await loading;
      let validate = compiled.get(schema);
      if (!validate) {
        validate = checks.compile(schema);
        compiled.set(schema, validate);
      }
      if (validate(value)) return [];
      return (validate.errors ?? []).map((error) => `$${error.instancePath} ${error.message ?? "does not fit"}`);
    },
  };
}

const options = { allErrors: true, strict: false, validateFormats: false, addUsedSchema: false };

async function load(): Promise<ajv.Ajv2020> {
  const { Ajv2020: Ajv } = await import("ajv/dist/2020.js");
  return new Ajv(options);
}

/** What is wrong with a schema itself. Answers at once, so that whoever defines something by it is told then. */
export function schemaProblem(schema: JsonObject): string | undefined {
  const { Ajv2020: Ajv } = createRequire(import.meta.url)("ajv/dist/2020.js") as typeof ajv;
  try {
    new Ajv(options).compile(schema);
    return undefined;
  } catch (cause) {
    return messageOf(cause);
  }
}
