/** The PostgreSQL store's door: `postgres("postgres://…")`, with the bus over which its processes tell each other. */
import { createPostgresNotifyBus } from "./buses/postgres-notify/bus.ts";
import type { InputOf, OutputOf, StandardSchema } from "./domain/standard-schema.ts";
import type { ResultOf, Tool } from "./domain/tool.ts";
import { makeTransactional, type TransactionalOptions } from "./domain/transactional-tool.ts";
import type { StoreDefinition } from "./ports/store.ts";
import { isPostgresUrl, type PostgresStoreOptions, postgresStore, problemsOf } from "./stores/postgres/postgres.ts";
import type { PostgresTransaction } from "./stores/postgres/transactions.ts";

export type { PostgresTransaction } from "./stores/postgres/transactions.ts";

/** A tool whose `apply` writes into the store's own database, in the commit that settles the call. */
export function transactionalTool<Schema extends StandardSchema, Output, Prepared = OutputOf<Schema>>(
  options: TransactionalOptions<Schema, PostgresTransaction, Prepared, Output>,
): Tool<InputOf<Schema>, ResultOf<Awaited<Output>>> {
  return makeTransactional("postgres", options);
}

export interface PostgresOptions extends PostgresStoreOptions {
  /** Where hints go between processes; `url` unless said. Needed when `url` is a pooler in transaction mode. */
  readonly notifyUrl?: string;
}

export function postgres(urlOrOptions: string | PostgresOptions): StoreDefinition {
  const options = typeof urlOrOptions === "string" ? { url: urlOrOptions } : urlOrOptions;
  const problems = problemsOf(options, ["notifyUrl"]);
  problems.optional("notifyUrl", isPostgresUrl, "must be like postgres://user:password@host:5432/database");
  problems.refuse("invalid-options", "postgres(…) cannot be used like this");
  const { notifyUrl, ...rest } = options as PostgresOptions;
  const { url, schema = "holdfast" } = rest;
  return {
    ...postgresStore(rest),
    bus: (deps) => createPostgresNotifyBus({ url: notifyUrl ?? url, schema }, deps),
  };
}
