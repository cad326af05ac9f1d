import type { Bus, Hint } from "../ports/bus.ts";
import type { Logger } from "../ports/logger.ts";

/** Hints inside one process, handed over at once. A listener that throws disturbs no other. */
export function createInMemoryBus(logger: Logger): Bus {
  const listeners = new Set<(hint: Hint) => void>();
  return {
    async publish(hint) {
      for (const listener of listeners) {
        try {
          listener(hint);
        } catch (cause) {
          logger.warn(`A listener threw on run ${hint.run}`, { cause: String(cause) });
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      listeners.clear();
    },
  };
}
