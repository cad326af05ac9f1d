/** The only reader of an error's retry class: whether, and when, to try again. */
import { isHoldfastError, type RetryClass } from "../domain/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Hash } from "../ports/hash.ts";
import type { Logger } from "../ports/logger.ts";
import type { EngineLimits } from "./limits.ts";

const firstBackoffMs = 500;
const longestBackoffMs = 60_000;
const storeBackoffMs = 20;
const longestStoreBackoffMs = 2_000;

export interface FailedAttempt {
  readonly retry: RetryClass;
  readonly failures: number;
  readonly effect: string;
  /** What the provider asked for; bounded like our own. */
  readonly afterMs: number | undefined;
  /** Of the run. */
  readonly deadlineAt: number | undefined;
}

/** When a model call is tried again, or undefined when it is not: an attempt after the deadline would never be made. */
export function retryAt(
  failed: FailedAttempt,
  at: { readonly now: number; readonly limits: EngineLimits; readonly hash: Hash },
): number | undefined {
  if (failed.retry === "never" || failed.failures >= at.limits.modelAttempts) return undefined;
  const backoff = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (failed.failures - 1));
  const asked = Math.min(longestBackoffMs, Math.max(0, failed.afterMs ?? 0));
  const spread = jitter(failed, at.hash);
  // Not before what was asked for, and not all at once: many runs may have been told the same time.
  const wait = asked > 0 ? Math.max(backoff * spread, asked + backoff * (spread - 0.5)) : backoff * spread;
  const again = at.now + Math.round(wait);
  return failed.deadlineAt !== undefined && again >= failed.deadlineAt ? undefined : again;
}

/** 0.5 … 1, spread by the effect's id: the same run retries at the same times on every replay. */
function jitter(failed: FailedAttempt, hash: Hash): number {
  const digit = Number.parseInt(hash.sha256(`${failed.effect}:${failed.failures}`).slice(0, 4), 16);
  return 0.5 + digit / 0x1_ff_fe;
}

export interface Patience {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Whoever waits would rather be told. */
  readonly isHopeless?: (cause: unknown) => boolean;
}

/** Repeats a store call while its error says "later" and the signal lets it. Other errors pass through. */
export async function persist<T>(what: string, patience: Patience, call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (cause) {
      if (!isHoldfastError(cause) || cause.retry !== "later" || patience.signal.aborted) throw cause;
      if (patience.isHopeless?.(cause)) throw cause;
      if (attempt === 1) patience.logger.warn(`${what} is repeated: ${cause.message}`, { code: cause.code });
      await breathe(attempt, patience);
      if (patience.signal.aborted) throw cause;
    }
  }
}

/** The same of a write that may be made twice: repeated also while nobody can tell whether it was made. */
export async function insist<T>(what: string, patience: Patience, call: () => Promise<T>): Promise<T> {
  for (let unknown = 0; ; unknown += 1) {
    try {
      return await persist(what, patience, call);
    } catch (cause) {
      if (!isHoldfastError(cause, "commit-unknown") || patience.signal.aborted || patience.isHopeless?.(cause))
        throw cause;
      if (unknown > 0) await breathe(unknown, patience);
    }
  }
}

/** Before a store call is repeated: ever longer, up to two seconds. */
export async function breathe(attempt: number, { clock, signal }: Pick<Patience, "clock" | "signal">): Promise<void> {
  await clock.sleep(Math.min(longestStoreBackoffMs, storeBackoffMs * 2 ** attempt), signal);
}
