/** A write that was asked for, as the writer sees it. */
import type { Scope } from "../../domain/ids.ts";
import type { Birth } from "../../ports/birth.ts";
import type { RunKey } from "../../ports/store.ts";
import type { Counted } from "../shared/commit-tally.ts";
import type { Tx } from "./access.ts";
import type { PreparedCommit } from "./commit-rows.ts";
import type { Queries } from "./database.ts";
import type { Needs } from "./locks.ts";

export interface Job<T> extends Counted {
  readonly scope: Scope;
  /** Jobs that share a key are done in the order they were asked for. */
  readonly keys: readonly string[];
  /** About how much it adds. */
  readonly bytes: number;
  readonly needs: Needs;
  /** A transaction of its own, during which nothing else of its scope is under way, save transactions of tools. */
  readonly isExclusive?: boolean;
  /** Shares its transaction with no other. */
  readonly isLone?: boolean;
  /** The whole job as one statement that commits itself; undefined when only `write` can tell the answer. */
  readonly alone?: (db: Queries) => Promise<T | undefined>;
  /** A commit: neighbours in a group are written together. */
  readonly commit?: PreparedCommit;
  /** The job inside a transaction that has locked what it needs. */
  readonly write: (tx: Tx) => Promise<T>;
}

/** How the verbs of an open store reach it. */
export interface Calls {
  write<T>(prepare: () => Job<T>): Promise<T>;
  read<T>(look: (db: Queries) => Promise<T>): Promise<T>;
}

/** What a birth is ordered by. */
export function birthKeys({ key, entry }: Birth): readonly string[] {
  const { scope, run, thread } = entry.identity;
  return [keyOf({ scope, run }), `thread\n${scope}\n${thread}`, `start\n${scope}\n${key}`];
}

/** Ids have no control characters, so the pair cannot be read in two ways. */
export function keyOf({ scope, run }: RunKey): string {
  return `${scope}\n${run}`;
}
