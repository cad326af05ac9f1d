/** `by`, `key` and what an act takes besides: checked in one place for every verb that writes. */
import { idProblem } from "../domain/ids.ts";
import { toJson } from "../domain/json.ts";
import { Problems } from "../domain/problems.ts";
import { engine } from "../domain/ticket.ts";
import type { ActOptions } from "./runtime.ts";

export const anyone = "anonymous";

export function checkAct<Options extends ActOptions>(
  options: Options,
  what: string,
  extra: readonly string[] = [],
): Options {
  const problems = new Problems(options, ["by", "key", ...extra]);
  for (const name of ["by", "key"] as const) {
    const problem = options?.[name] === undefined ? undefined : idProblem(options[name]);
    if (problem) problems.add(`${name}: ${problem}`);
  }
  if (options?.by === engine) problems.add(`by: ${engine} is what the engine calls itself`);
  problems.optional(
    "roles",
    (roles) => Array.isArray(roles) && roles.every((role) => typeof role === "string" && role !== ""),
    "must be a list of names",
  );
  problems.optional(
    "reason",
    (reason) => typeof reason === "string" && toJson(reason).ok,
    "must be a string that can be stored",
  );
  problems.refuse("invalid-options", what);
  return options;
}
