/** Config schemas of the plugins of the house, without a schema library: a check that names every problem at once. */
import { isHoldfastError } from "../../domain/errors.ts";
import { Problems } from "../../domain/problems.ts";
import type { StandardSchema } from "../../domain/standard-schema.ts";

export interface ConfigReader<Output> {
  /** Names of the options; any other is refused. */
  readonly known: readonly string[];
  /** Adds what is wrong; what it answers counts only when nothing is. */
  readonly read: (value: Readonly<Record<string, unknown>>, problems: Problems) => Output;
}

export function configSchema<Input, Output>({ known, read }: ConfigReader<Output>): StandardSchema<Input, Output> {
  return {
    "~standard": {
      version: 1,
      vendor: "holdfast",
      validate(value) {
        try {
          const problems = new Problems(value, known);
          const config = read((value ?? {}) as Record<string, unknown>, problems);
          problems.refuse("invalid-plugin", "The config does not fit");
          return { value: config };
        } catch (cause) {
          if (!isHoldfastError(cause, "invalid-plugin")) throw cause;
          return { issues: cause.problems.map((message) => ({ message })) };
        }
      },
    },
  };
}
