/** One deadline for one piece of work. Never rejects, leaves no timer behind, races against nothing run-long. */
import type { Clock } from "../ports/clock.ts";

export type Within<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "threw"; readonly cause: unknown }
  | { readonly kind: "timeout" };

export interface Timing {
  readonly clock: Clock;
  /** Stops of the timers that run. When the claim is over they are called: what is deaf then is timed no more. */
  readonly timers?: Set<() => void>;
}

/** A reason of our own: without one every abort would build a DOMException with a stack. */
const over = "settled";

export function settleWithin<T>(work: Promise<T>, ms: number, { clock, timers }: Timing): Promise<Within<T>> {
  return new Promise((resolve) => {
    const timer = new AbortController();
    let isTimed = true;
    const stop = (): void => {
      isTimed = false;
      timer.abort(over);
    };
    const end = (within: Within<T>): void => {
      resolve(within);
      timers?.delete(stop);
      timer.abort(over);
    };
    timers?.add(stop);
    work.then(
      (value) => end({ kind: "value", value }),
      (cause: unknown) => end({ kind: "threw", cause }),
    );
    clock.sleep(ms, timer.signal).then(
      () => isTimed && end({ kind: "timeout" }),
      (cause: unknown) => isTimed && end({ kind: "threw", cause }),
    );
  });
}

/** Returns after so long, and not at all when the claim is over before. */
export async function wait(ms: number, timing: Timing): Promise<void> {
  await settleWithin(new Promise<never>(() => undefined), ms, timing);
}
