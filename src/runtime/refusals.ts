/** Refusals that more than one verb of the front desk has to give. */
import { HoldfastError } from "../domain/errors.ts";
import type { RunId } from "../domain/ids.ts";
import type { Desk } from "./desk.ts";

export function keyConflict(key: string, run: RunId): HoldfastError {
  const message = `Key ${key} started run ${run} with another request`;
  return new HoldfastError("start-key-conflict", message, { details: { key, run } });
}

export function noSuchRun(run: RunId, desk: Desk): HoldfastError {
  return new HoldfastError("run-not-found", `There is no run ${run} in scope ${desk.scope}`, { details: { run } });
}
