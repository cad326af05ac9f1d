/** A schema for the state keys of the house's plugins, without a schema library. */
import type { StandardSchema } from "../../domain/standard-schema.ts";

/** Takes what fits, as it is. */
export function valueSchema<Value>(fits: (value: unknown) => boolean, rule: string): StandardSchema<Value> {
  return {
    "~standard": {
      version: 1,
      vendor: "holdfast",
      validate: (value) => (fits(value) ? { value: value as Value } : { issues: [{ message: rule }] }),
    },
  };
}
