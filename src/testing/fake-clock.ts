/** Time that moves only when a test says so. Sleepers wake in order, each with its own time as `now`. */
import type { Clock } from "../ports/clock.ts";

export interface FakeClock extends Clock {
  /** Moves time on, waking sleepers one by one; `between` runs after each of them. */
  advance(ms: number, between?: () => Promise<void>): Promise<void>;
  /** When the next sleeper wakes, if there is one. */
  next(): number | undefined;
}

interface Sleeper {
  readonly at: number;
  readonly order: number;
  readonly wake: () => void;
}

export const fakeStart: number = Date.UTC(2030, 0, 1);

export function createFakeClock(start: number = fakeStart): FakeClock {
  let now = start;
  let order = 0;
  const sleepers = new Set<Sleeper>();

  function earliest(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const each of sleepers) {
      if (!first || each.at < first.at || (each.at === first.at && each.order < first.order)) first = each;
    }
    return first;
  }

  return {
    now: () => now,
    monotonic: () => now,
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        order += 1;
        const sleeper: Sleeper = { at: now + Math.max(0, ms), order, wake };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", wake, { once: true });
        function wake(): void {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", wake);
          resolve();
        }
      });
    },
    async advance(ms, between = settleTurn) {
      const end = now + ms;
      await between();
      for (let next = earliest(); next && next.at <= end; next = earliest()) {
        now = Math.max(now, next.at);
        next.wake();
        await between();
      }
      now = end;
      await between();
    },
    next: () => earliest()?.at,
  };
}

function settleTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** 1500, "250ms", "10s", "5m", "2h", "3d". */
export function milliseconds(duration: number | string): number {
  if (typeof duration === "number") return duration;
  const match = /^(\d+)(ms|s|m|h|d)$/.exec(duration);
  if (!match)
    throw new TypeError(`A duration is a number of milliseconds or like "3d", not ${JSON.stringify(duration)}`);
  return Number(match[1]) * units[match[2] as keyof typeof units];
}
