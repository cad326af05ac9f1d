/** What every job of the store works with. */
import type { Connection } from "./database.ts";
import type { Places } from "./places.ts";

export interface Access {
  readonly db: Connection;
  readonly places: Places;
  /** Store time, read when the job runs, not when it was asked for. */
  readonly now: () => number;
}
