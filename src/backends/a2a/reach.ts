/** Reaching the other side again and again: for what is already under way there, and must not fail because it restarts. */
import { isHoldfastError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import { RemoteFailure } from "./failure.ts";
import { mayRepeat } from "./follow.ts";
import type { Remote } from "./remote.ts";

interface Reaching {
  readonly clock: Clock;
  readonly settings: { readonly pollMs: number };
  reach(signal: AbortSignal): Promise<Remote>;
}

export function reachAgain(parts: Reaching, signal: AbortSignal): Promise<Remote> {
  return repeated(parts, signal, () => parts.reach(signal));
}

const longestPauseMs = 30_000;

/** Repeats what failed on the way, until the signal; what the other side has said itself stands. */
export async function repeated<T>(
  { clock, settings }: Pick<Reaching, "clock" | "settings">,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  for (let pause = settings.pollMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isOnTheWay(error)) throw error;
      await clock.sleep(pause, signal);
      if (signal.aborted) throw error;
    }
  }
}

function isOnTheWay(error: unknown): boolean {
  if (error instanceof RemoteFailure) return mayRepeat(error);
  const { cause } = error as { readonly cause?: unknown };
  return isHoldfastError(cause) && cause.retry === "later";
}
