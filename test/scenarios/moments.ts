/** Ways to be slow. */
import { callsUnderWay } from "./stores.ts";

/** Long enough for everything that needs no time, or only that of a server, to have happened. */
export async function aMoment(): Promise<void> {
  for (let count = 0; count < 40; count = callsUnderWay() > 0 ? 0 : count + 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** Rejects as soon as its signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("I was aborted")), { once: true });
  });
}

/** A promise and the way to settle it. */
export function aGate<T = void>(): { readonly opened: Promise<T>; readonly open: (value: T) => void } {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open: (value) => open(value) };
}
