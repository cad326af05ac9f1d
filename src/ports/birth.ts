/** Birth: everything that a new run brings to the store. */
import type { DeclaredManifest } from "../domain/declared-manifest.ts";
import type { RunCreated } from "../domain/entry.ts";

export interface Birth {
  readonly key: string;
  readonly requestHash: string;
  readonly entry: RunCreated;
  readonly manifest: DeclaredManifest;
  /** What happens when the thread has an active run; queue unless said. Decided in the birth's own transaction. */
  readonly whenBusy?: BusyRule;
  /** Who is recorded as asking the active run to end. */
  readonly by?: string;
}

/**
 * queue: behind it · queue-unless-waiting: answer `busy` when it waits · reject: answer `busy` ·
 * interrupt, supersede: in the same transaction the active run gets `cancel-requested` (with `instead`), and the new
 * run is the thread's next, before the queued ones.
 */
export type BusyRule = "queue" | "queue-unless-waiting" | "reject" | "interrupt" | "supersede";
