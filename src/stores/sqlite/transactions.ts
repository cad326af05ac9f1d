/**
 * What a transactional tool gets: statements inside the store's own transaction.
 *
 * T1 It is synchronous from beginning to end: the connection is everyone's, and a pause would show others half of it.
 * T2 After it nothing can be done with `tx` any more.
 * T3 The transaction that was begun is the one that is committed.
 * T4 One statement at a time: SQLite would leave out whatever follows the first without a word.
 * T5 Rows that only COMMIT refuses (deferred foreign keys) are the tool's matter, see group.ts.
 * T6 A full disk is the store's matter, whatever the tool makes of it. What a connection of the tool's own throws is not:
 *    it finds the file busy for as long as this transaction waits for it.
 */
import type { SQLInputValue, StatementSync } from "node:sqlite";
import type { EntryBody } from "../../domain/entry.ts";
import type { Transact } from "../../ports/store.ts";
import { applyFailed } from "../shared/refusals.ts";
import { changesConnection, endsTransaction } from "../shared/tx-statements.ts";
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
  let failed: unknown;
  function prepare(sql: string): StatementSync {
    if (isOver) throw new Error("This transaction is over: apply(tx, …) on SQLite must not keep or await tx");
    if (changesConnection(sql)) throw new Error(`A tool must not change the store's connection: ${sql}`);
    if (endsTransaction(sql)) throw new Error(`A tool must not end the store's transaction: ${sql}`);
    const statement = db.prepare(sql);
    if (!isBlank(sql.slice(statement.sourceSQL.length))) throw new Error(`Only one statement at a time: ${sql}`); // T4
    return statement;
  }
  function doing<T>(sql: string, act: (statement: StatementSync) => T): T {
    try {
      return act(prepare(sql));
    } catch (cause) {
      if (isStoreMatter(cause)) failed ??= cause;
      throw cause;
    }
  }
  const tx: SqliteTransaction = {
    run: (sql, ...values) => doing(sql, (statement) => Number(statement.run(...values).changes)),
    get: <Row>(sql: string, ...values: readonly SQLInputValue[]) =>
      doing(sql, (statement) => statement.get(...values) as Row | undefined),
    all: <Row>(sql: string, ...values: readonly SQLInputValue[]) =>
      doing(sql, (statement) => statement.all(...values) as readonly unknown[] as readonly Row[]),
  };
  try {
    const entries = sync(transaction(tx));
    if (failed !== undefined) throw failed; // T6
    if (!db.isInTransaction()) throw new Error("A statement of apply made SQLite roll everything back"); // T3
    return entries;
  } catch (cause) {
    throw failed ?? applyFailed("apply threw", cause); // T6
  } finally {
    isOver = true; // T2
  }
}

function isBlank(sql: string): boolean {
  return /^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*$/.test(sql);
}

/** T1. */
function sync(entries: ReturnType<Transact>): readonly EntryBody[] {
  if (!(entries instanceof Promise)) return entries;
  entries.catch(() => undefined);
  throw new Error("apply must be synchronous on SQLite: do what has to be awaited in prepare");
}
