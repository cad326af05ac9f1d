/** The PostgreSQL store's door: `postgres("postgres://…")`, with the bus over which its processes tell each other. */
import { createPostgresNotifyBus } from "./buses/postgres-notify/bus.ts";
import { Problems } from "./domain/problems.ts";
import type { StoreDefinition } from "./ports/store.ts";
import { type PostgresStoreOptions, postgresStore } from "./stores/postgres/postgres.ts";

export interface PostgresOptions extends PostgresStoreOptions {
  /** Where hints go between processes; `url` unless said. Needed when `url` is a pooler in transaction mode. */
  readonly notifyUrl?: string;
}

export function postgres(urlOrOptions: string | PostgresOptions): StoreDefinition {
  const options = typeof urlOrOptions === "string" ? { url: urlOrOptions } : urlOrOptions;
  const { notifyUrl, ...rest } = options ?? {};
  const store = postgresStore(rest as PostgresStoreOptions);
  checkNotifyUrl(notifyUrl);
  const { url = "", schema = "holdfast" } = rest;
  return { ...store, bus: ({ logger }) => createPostgresNotifyBus({ url: notifyUrl ?? url, schema }, logger) };
}

function checkNotifyUrl(notifyUrl: unknown): void {
  const problems = new Problems({ notifyUrl }, ["notifyUrl"]);
  const isUrl = (value: unknown): boolean => typeof value === "string" && /^postgres(ql)?:\/\//.test(value);
  problems.optional("notifyUrl", isUrl, "must be like postgres://user:password@host:5432/database");
  problems.refuse("invalid-options", "postgres(…) cannot be used like this");
}
