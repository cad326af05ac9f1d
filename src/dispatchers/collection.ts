/**
 * Takes away content that no run cites: what a cut has left between a put and its citation, and what the last run that
 * cited it left when it was erased.
 *
 * N1 What may go is the store's matter (B3). A day is much longer than any put is under way.
 * N2 Several processes may do it at once, and nothing rests on it.
 * N3 It is done in every scope whose runs are executed here, by name; what one scope's place refuses keeps no other from it.
 */
import type { Scope } from "../domain/ids.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { Store } from "../ports/store.ts";

export interface CollectionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** N3. */
  readonly scopes: readonly Scope[];
  /** Takes away bytes that are elsewhere and that the store does not know of. */
  readonly sweep?: (scope: Scope, olderThanMs: number) => Promise<void>;
}

const everyMs = 60 * 60_000;
const breathMs = 20;
const batch = 64;
/** N1. */
const oldMs = 24 * 60 * 60_000;

export function createCollection(options: CollectionOptions): { close(): Promise<void> } {
  const stop = new AbortController();
  const collecting = collectLoop(options, stop.signal);
  return {
    close: () => {
      stop.abort("closing");
      return collecting;
    },
  };
}

async function collectLoop(options: CollectionOptions, stop: AbortSignal): Promise<void> {
  for (;;) {
    await options.clock.sleep(everyMs, stop);
    for (const scope of options.scopes) {
      while (!stop.aborted && (await collectSome(options, scope))) await options.clock.sleep(breathMs, stop);
    }
    if (stop.aborted) return;
  }
}

async function collectSome({ store, sweep, logger }: CollectionOptions, scope: Scope): Promise<boolean> {
  try {
    const collected = await store.collectContent({ scope, olderThanMs: oldMs, limit: batch });
    if (collected.length > 0) logger.note(`${collected.length} contents that no run cites were removed`, { scope });
    if (collected.length === batch) return true;
    await sweep?.(scope, oldMs);
  } catch (cause) {
    const why = { scope, cause: String(cause) };
    logger.warn("Content that no run cites could not be removed; it is tried again", why);
  }
  return false;
}
