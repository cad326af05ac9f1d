/** What a model's failure means. The provider's edge names it; these only read the name. */
import { HoldfastError, isHoldfastError } from "./errors.ts";
import { messageOf } from "./json.ts";

/** What was thrown, in our terms. */
export function modelErrorOf(cause: unknown): HoldfastError {
  if (isHoldfastError(cause)) return cause;
  return new HoldfastError("model-failed", `The provider failed: ${messageOf(cause)}`, { cause });
}

/** The model is having a bad day, and another model may not. A wrong key or a bad request is no matter of days. */
export function isBadDay(error: HoldfastError): boolean {
  return error.retry === "later";
}

/** What the provider asked for, in milliseconds. */
export function retryAfterOf({ details }: HoldfastError): number | undefined {
  const { retryAfterMs } = details;
  return Number.isFinite(retryAfterMs) ? Math.max(0, Number(retryAfterMs)) : undefined;
}
