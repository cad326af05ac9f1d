/** One end for everything that a turn does: the caller's signal or the time, whichever comes first. */
import type { Clock } from "../../ports/clock.ts";

export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether it was the time. */
  isOver(): boolean;
  /** To be called when the work is done. */
  close(): void;
}

export interface Within {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export function openDeadline({ signal, timeoutMs }: Within, clock: Clock): Deadline {
  const both = new AbortController();
  const closed = new AbortController();
  let isOver = false;
  const stop = (): void => both.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  void clock.sleep(timeoutMs, closed.signal).then(() => {
    if (closed.signal.aborted || both.signal.aborted) return;
    isOver = true;
    both.abort(new Error(`${timeoutMs} ms are over`));
  });
  return {
    signal: both.signal,
    isOver: () => isOver,
    close() {
      closed.abort();
      signal.removeEventListener("abort", stop);
    },
  };
}
