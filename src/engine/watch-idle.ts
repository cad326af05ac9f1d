/** Notices that nothing moves any more. Its timer is armed once per period, however much moves in between. */
import type { Timing } from "./settle-within.ts";

export interface IdleWatch {
  moved(): void;
  stop(): void;
}

/** A reason of our own: without one every abort would build a DOMException with a stack. */
const over = "watched";

/** Calls back at most once: when nothing has moved for so long, or when the clock itself has failed. */
export function watchIdle(ms: number, { clock, timers }: Timing, onIdle: (cause?: unknown) => void): IdleWatch {
  const timer = new AbortController();
  let last = clock.monotonic();
  let isOver = false;

  function stop(): void {
    isOver = true;
    timers?.delete(stop);
    timer.abort(over);
  }

  async function watch(): Promise<void> {
    for (let left = ms; left > 0; left = last + ms - clock.monotonic()) {
      await clock.sleep(left, timer.signal);
      if (isOver) return;
    }
    stop();
    onIdle();
  }

  timers?.add(stop);
  void watch().catch((cause: unknown) => {
    if (!isOver) onIdle(cause);
  });
  return {
    moved() {
      last = clock.monotonic();
    },
    stop,
  };
}
