/** What the SQLite tests share: files of their own, real time, and a watched store. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Claim, Store, StoreDefinition, StoreDeps } from "../../src/ports/store.ts";
import type { Connection, Probe } from "../../src/stores/sqlite/database.ts";
import { type ProbedOptions, sqliteWithProbe } from "../../src/stores/sqlite/sqlite.ts";
import { birthOf, claimAll } from "../../src/testing/conformance/store-fixtures.ts";

export const deps: StoreDeps = {
  clock: { now: () => Date.now(), monotonic: () => performance.now(), sleep: () => Promise.resolve() },
  logger: { warn: () => undefined, note: () => undefined },
};

export function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-sqlite-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function freshPath(): string {
  return join(freshDirectory(), "runs.db");
}

export async function opened(definition: StoreDefinition): Promise<Store> {
  const store = await definition.open(deps);
  onTestFinished(() => store.close());
  return store;
}

export interface Watched {
  readonly store: Store;
  readonly path: string;
  /** Every statement since the last look. */
  seen(): readonly string[];
  /** Rows read since the last look. */
  rows(): number;
  /** Called before or after a statement; what it throws stands for SQLite's error. */
  fault: { before?: (sql: string) => void; after?: (sql: string) => void };
  connection(): Connection;
}

export async function watched(options: ProbedOptions = { durability: "normal" }): Promise<Watched> {
  const path = freshPath();
  const fault: Watched["fault"] = {};
  const statements: string[] = [];
  let rows = 0;
  let connection: Connection | undefined;
  const probe: Probe = {
    opened: (db) => {
      connection = db;
    },
    before: (sql) => {
      statements.push(sql);
      fault.before?.(sql);
    },
    after: (sql, count) => {
      rows += count;
      fault.after?.(sql);
    },
  };
  const store = await opened(sqliteWithProbe(path, probe, options));
  return {
    store,
    path,
    seen: () => statements.splice(0),
    rows: () => {
      const count = rows;
      rows = 0;
      return count;
    },
    fault,
    connection: () => connection!,
  };
}

export function sqliteError(errcode: number): Error {
  return Object.assign(new Error(`SQLite says ${errcode}`), { errcode });
}

/** Births and claims of so many runs, each on its own thread. */
export async function claimedRuns(store: Store, count: number): Promise<readonly Claim[]> {
  await Promise.all(Array.from({ length: count }, (_, n) => store.create(birthOf(`r${n}`))));
  return claimAll(store, { limit: count });
}
