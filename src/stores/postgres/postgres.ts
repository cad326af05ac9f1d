/** `postgresStore(url)`: a store in one schema of a PostgreSQL database. */
import { Problems } from "../../domain/problems.ts";
import type { StoreDefinition } from "../../ports/store.ts";
import type { Probe } from "./database.ts";
import { openPostgresStore } from "./store.ts";

export interface PostgresStoreOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  /** Created when it is not there; "holdfast" unless said. */
  readonly schema?: string;
  /** Most connections of this process; 8 unless said. */
  readonly connections?: number;
  /** False behind a pooler in transaction mode that does not keep prepared statements (PgBouncer before 1.21). */
  readonly prepare?: boolean;
  /** Whose time leases, tickets and entries go by: the server's unless said. "clock" is for tests. */
  readonly time?: "database" | "clock";
}

const optionNames = [
  "url",
  "schema",
  "connections",
  "prepare",
  "time",
] as const satisfies readonly (keyof PostgresStoreOptions)[];

export function postgresStore(urlOrOptions: string | PostgresStoreOptions): StoreDefinition {
  return definitionOf(checked(urlOrOptions));
}

/** The same store under observation. */
export function postgresWithProbe(urlOrOptions: string | PostgresStoreOptions, probe: Probe): StoreDefinition {
  return definitionOf({ ...checked(urlOrOptions), probe });
}

function definitionOf(options: PostgresStoreOptions & { readonly probe?: Probe }): StoreDefinition {
  const { schema = "holdfast", connections = 8, prepare = true, time = "database" } = options;
  return {
    name: "postgres",
    transactions: "postgres",
    open: (deps) => openPostgresStore({ ...options, schema, connections, prepare, time }, deps),
  };
}

function checked(urlOrOptions: unknown): PostgresStoreOptions {
  const options = typeof urlOrOptions === "string" ? { url: urlOrOptions } : urlOrOptions;
  problemsOf(options).refuse("invalid-options", "postgres(…) cannot be used like this");
  return options as PostgresStoreOptions;
}

/** What is wrong with them, by name; `others` are names that someone else reads. */
export function problemsOf(options: unknown, others: readonly string[] = []): Problems {
  const problems = new Problems(options, [...optionNames, ...others]);
  problems.check("url", isPostgresUrl, "must be like postgres://user:password@host:5432/database");
  problems.optional("schema", isSchema, "must be a name of 1 to 63 letters, digits and _, not beginning with pg_");
  problems.integer("connections", 1, 1_000);
  problems.optional("prepare", (value) => typeof value === "boolean", "must be true or false");
  problems.oneOf("time", ["database", "clock"]);
  return problems;
}

export function isPostgresUrl(value: unknown): boolean {
  return typeof value === "string" && /^postgres(ql)?:\/\//.test(value) && URL.canParse(value);
}

function isSchema(value: unknown): boolean {
  return typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(value) && !value.startsWith("pg_");
}
