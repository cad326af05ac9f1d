/** Waiting with an end to it. */
export type Within<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "threw"; readonly cause: unknown }
  | { readonly kind: "late" };

/** Late when the time is over or the signal says so. What comes then is nobody's, and no rejection of it is left alone. */
export function settleWithin<T>(promise: Promise<T>, ms: number, signal?: AbortSignal): Promise<Within<T>> {
  return new Promise((resolve) => {
    const end = (within: Within<T>): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", late);
      resolve(within);
    };
    const late = (): void => end({ kind: "late" });
    const timer = setTimeout(late, ms);
    signal?.addEventListener("abort", late, { once: true });
    if (signal?.aborted) late();
    promise.then(
      (value) => end({ kind: "value", value }),
      (cause: unknown) => end({ kind: "threw", cause }),
    );
  });
}
