/** What every job of the store works with. */
import type { CommitTally } from "../shared/commit-tally.ts";
import type { Queries, Session } from "./database.ts";

/** A transaction whose rows are locked. */
export interface Tx extends Queries, Pick<Session, "foreign"> {
  /** Threads that this transaction holds: those it has locked, and those it has made. */
  readonly threads: Set<number>;
}

export interface Access {
  readonly schema: string;
  /** The statement that writes commits, see commit-rows.ts: long, and the same for every commit of this store. */
  readonly insertCommits: string;
  /** A time that stands for the store's; null unless a test says so: the server's own clock is asked in each statement. */
  readonly time: () => number | null;
  readonly tally: CommitTally;
}

/** What a statement does about a row that another transaction holds: alone it never waits, see group.ts. */
export type RowWait = "SKIP LOCKED" | "";

/** Store time in milliseconds: the parameter when it is given, else the server's clock at this moment, not at BEGIN. */
export function storeTime(parameter: string): string {
  return `(SELECT coalesce(${parameter}::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint))`;
}
