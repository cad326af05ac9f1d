/** `sqlite(path)`: a store in one file. */
import { Problems } from "../../domain/problems.ts";
import type { StoreDefinition } from "../../ports/store.ts";
import { type Probe, sqliteOfNode } from "./database.ts";
import type { Durability } from "./open-database.ts";
import { openSqliteStore } from "./store.ts";

export interface SqliteOptions {
  /**
   * "full" (default): a commit that was acknowledged survives power loss. "normal": it survives the death of the
   * process; after power loss the newest commits may be missing, the file stays whole.
   */
  readonly durability?: Durability;
}

/** See docs/explanation/decisions/2026-11-15-page-size.md. */
const defaultPageSize = 4096;

export function sqlite(path: string, options: SqliteOptions = {}): StoreDefinition {
  sqliteOfNode();
  checkOptions(path, options);
  const { durability = "full" } = options;
  const settings = { path, durability, pageSize: defaultPageSize };
  return { name: "sqlite", transactions: "sqlite", open: (deps) => openSqliteStore(settings, deps) };
}

export interface ProbedOptions extends SqliteOptions {
  readonly pageSize?: number;
}

/** The same store under observation. It never checkpoints, so that its WAL grows by exactly what is written. */
export function sqliteWithProbe(path: string, probe: Probe, options: ProbedOptions = {}): StoreDefinition {
  const { durability = "full", pageSize = defaultPageSize } = options;
  return {
    name: "sqlite",
    transactions: "sqlite",
    open: (deps) => openSqliteStore({ path, durability, pageSize, probe, checkpointPages: 0 }, deps),
  };
}

function checkOptions(path: unknown, options: unknown): void {
  const problems = new Problems(options, ["durability"]);
  if (typeof path !== "string" || path === "") problems.add("path: must be the path of a file");
  else if (path === ":memory:" || path.startsWith("file:"))
    problems.add("path: must be a path; without a file use memory()");
  problems.oneOf("durability", ["full", "normal"]);
  problems.refuse("invalid-options", "sqlite(…) cannot be used like this");
}
