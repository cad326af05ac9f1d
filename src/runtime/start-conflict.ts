import { HoldfastError } from "../domain/errors.ts";
import type { RunId } from "../domain/ids.ts";

export function keyConflict(key: string, run: RunId): HoldfastError {
  const message = `Key ${key} started run ${run} with another request`;
  return new HoldfastError("start-key-conflict", message, { details: { key, run } });
}
