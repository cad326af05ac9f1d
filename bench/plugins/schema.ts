/** A schema that costs nothing: what is measured is not validation. */
import type { StandardSchema } from "../../src/domain/standard-schema.ts";

export const schema: StandardSchema<object> = {
  "~standard": {
    version: 1,
    vendor: "bench",
    validate: (value) => ({ value: value as object }),
    jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
  },
};
