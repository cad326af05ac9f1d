/**
 * Erases finished runs that are older than the policy keeps them.
 *
 * T1 Which runs may go, and that each goes whole, is the store's matter (H5); their age is counted by the store's clock.
 *    Several processes may do it at once, and one that dies in the middle leaves nothing half erased.
 * T2 Batches are small and have a pause between them, so that others' writes get their turn.
 */
import type { Scope } from "../domain/ids.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { Store } from "../ports/store.ts";

export interface RetentionPolicy {
  /** How long a finished run is kept, in milliseconds from its end. */
  readonly keepFinishedMs: number;
  /** How often old runs are looked for, in milliseconds; every minute unless said. */
  readonly everyMs?: number;
}

export interface RetentionOptions extends RetentionPolicy {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly scope: Scope;
}

export interface Retention {
  /** Returns when nothing is being erased any more. */
  close(): Promise<void>;
}

const batch = 16;
const breathMs = 20;
const defaultEveryMs = 60_000;

export function createRetention(options: RetentionOptions): Retention {
  const stop = new AbortController();
  const pruning = pruneLoop(options, stop.signal);
  return {
    close: () => {
      stop.abort();
      return pruning;
    },
  };
}

async function pruneLoop(options: RetentionOptions, stop: AbortSignal): Promise<void> {
  const { clock, everyMs = defaultEveryMs } = options;
  while (!stop.aborted) {
    const erased = await pruneSome(options);
    await clock.sleep(erased === 0 ? everyMs : breathMs, stop);
  }
}

async function pruneSome({ store, scope, keepFinishedMs, logger }: RetentionOptions): Promise<number> {
  try {
    const erased = await store.prune({ scope, ended: { agoMs: keepFinishedMs }, limit: batch });
    if (erased.length > 0) logger.note(`${erased.length} finished runs were erased by retention`, { runs: erased });
    return erased.length;
  } catch (cause) {
    logger.warn("Old runs could not be erased; it is tried again", { cause: String(cause) });
    return 0;
  }
}
