/** The SQLite store's door: `sqlite("runs.db")`. */
import type { InputOf, OutputOf, StandardSchema } from "./domain/standard-schema.ts";
import type { ResultOf, Tool } from "./domain/tool.ts";
import { makeTransactional, type TransactionalOptions } from "./domain/transactional-tool.ts";
import type { SqliteTransaction } from "./stores/sqlite/transactions.ts";

export { type SqliteOptions, sqlite } from "./stores/sqlite/sqlite.ts";
export type { SqliteTransaction } from "./stores/sqlite/transactions.ts";

/** A tool whose `apply` writes into the store's own file, in the commit that settles the call. `apply` is synchronous. */
export function transactionalTool<Schema extends StandardSchema, Output, Prepared = OutputOf<Schema>>(
  options: TransactionalOptions<Schema, SqliteTransaction, Prepared, Output>,
): Tool<InputOf<Schema>, ResultOf<Output>> {
  return makeTransactional("sqlite", options) as Tool<InputOf<Schema>, ResultOf<Output>>;
}
