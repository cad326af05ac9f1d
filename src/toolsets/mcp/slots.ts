/** How many may be at work at once; the others wait in their order, or go when they have waited enough. */
export interface Slots {
  /** Answers how to give the place back, or undefined when there was none in time. */
  take(waitMs: number, signal: AbortSignal): Promise<(() => void) | undefined>;
}

export function createSlots(most: number): Slots {
  let free = most;
  const waiting = new Set<() => void>();

  function giveBack(): () => void {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      free += 1;
      const [next] = waiting;
      next?.();
    };
  }

  function grab(): () => void {
    free -= 1;
    return giveBack();
  }

  return {
    take(waitMs, signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      if (free > 0) return Promise.resolve(grab());
      return new Promise((resolve) => {
        const end = (place: (() => void) | undefined): void => {
          waiting.delete(turn);
          clearTimeout(timer);
          signal.removeEventListener("abort", leave);
          resolve(place);
        };
        const turn = (): void => end(grab());
        const leave = (): void => end(undefined);
        const timer = setTimeout(leave, waitMs);
        signal.addEventListener("abort", leave, { once: true });
        waiting.add(turn);
      });
    },
  };
}
