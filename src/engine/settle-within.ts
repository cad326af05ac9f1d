/** One deadline for one piece of work. Never rejects, leaves no timer behind, races against nothing run-long. */
import type { Clock } from "../ports/clock.ts";

export type Within<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "threw"; readonly cause: unknown }
  | { readonly kind: "timeout" };

/** A reason of our own: without one every abort would build a DOMException with a stack. */
const over = "settled";

export function settleWithin<T>(work: Promise<T>, ms: number, clock: Clock): Promise<Within<T>> {
  return new Promise((resolve) => {
    const timer = new AbortController();
    const end = (within: Within<T>): void => {
      resolve(within);
      timer.abort(over);
    };
    work.then(
      (value) => end({ kind: "value", value }),
      (cause: unknown) => end({ kind: "threw", cause }),
    );
    clock.sleep(ms, timer.signal).then(
      () => end({ kind: "timeout" }),
      (cause: unknown) => end({ kind: "threw", cause }),
    );
  });
}
