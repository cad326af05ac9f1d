/**
 * What a transactional tool gets: statements inside the store's own transaction.
 *
 * T1 It is synchronous from beginning to end: the connection is everyone's, and a pause would show others half of it.
 * T2 After it nothing can be done with `tx` any more.
 * T3 The transaction that was begun is the one that is committed.
 */
import type { SQLInputValue } from "node:sqlite";
import type { EntryBody } from "../../domain/entry.ts";
import type { Transact } from "../../ports/store.ts";
import { applyFailed } from "../shared/refusals.ts";
import { endsTransaction } from "../shared/tx-statements.ts";
import type { Connection } from "./database.ts";
import { isStoreMatter } from "./failures.ts";

export interface SqliteTransaction {
  /** Answers the number of rows it changed. */
  run(sql: string, ...values: readonly SQLInputValue[]): number;
  get<Row = Record<string, unknown>>(sql: string, ...values: readonly SQLInputValue[]): Row | undefined;
  all<Row = Record<string, unknown>>(sql: string, ...values: readonly SQLInputValue[]): readonly Row[];
}

export function applyIn(db: Connection, transaction: Transact): readonly EntryBody[] {
  let isOver = false;
  function prepare(sql: string): ReturnType<Connection["prepare"]> {
    if (isOver) throw new Error("This transaction is over: apply(tx, …) on SQLite must not keep or await tx");
    if (endsTransaction(sql)) throw new Error(`A tool must not end the store's transaction: ${sql}`);
    return db.prepare(sql);
  }
  const tx: SqliteTransaction = {
    run: (sql, ...values) => Number(prepare(sql).run(...values).changes),
    get: <Row>(sql: string, ...values: readonly SQLInputValue[]) => prepare(sql).get(...values) as Row | undefined,
    all: <Row>(sql: string, ...values: readonly SQLInputValue[]) =>
      prepare(sql).all(...values) as readonly unknown[] as readonly Row[],
  };
  try {
    const entries = sync(transaction(tx));
    if (!db.isInTransaction()) throw new Error("A statement of apply made SQLite roll everything back"); // T3
    return entries;
  } catch (cause) {
    throw isStoreMatter(cause) ? cause : applyFailed("apply threw", cause);
  } finally {
    isOver = true; // T2
  }
}

/** T1. */
function sync(entries: ReturnType<Transact>): readonly EntryBody[] {
  if (!(entries instanceof Promise)) return entries;
  entries.catch(() => undefined);
  throw new Error("apply must be synchronous on SQLite: do what has to be awaited in prepare");
}
