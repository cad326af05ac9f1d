import type { Clock } from "../ports/clock.ts";

/** setTimeout takes at most 2^31 - 1 ms; longer sleeps are slept in pieces. */
const longestTimer = 2 ** 31 - 1;

export const nodeClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => (ms > longestTimer ? longSleep(ms, signal) : shortSleep(ms, signal)),
};

function shortSleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(wake, Math.max(0, ms));
    signal?.addEventListener("abort", wake, { once: true });
    function wake(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    }
  });
}

async function longSleep(ms: number, signal?: AbortSignal): Promise<void> {
  const end = Date.now() + ms;
  while (!signal?.aborted && Date.now() < end) {
    await shortSleep(Math.min(longestTimer, end - Date.now()), signal);
  }
}
