/**
 * Opens the file, or says in one sentence why it cannot be used.
 *
 * O1 The file is looked at through a read-only connection first; what does not fit is refused with the file untouched.
 * O2 WAL and the durability asked for are read back: a setting that did not take is an error, not a hope.
 * O3 What is deleted is overwritten (secure_delete): an erased text is in no free page.
 * O4 A file that another process holds is waited for without blocking.
 */
import { statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError, isHoldfastError } from "../../domain/errors.ts";
import { messageOf } from "../../domain/json.ts";
import { type Connection, connect, type Probe } from "./database.ts";
import { failureOf, storeBusy } from "./failures.ts";
import { checkSchema, migrate } from "./migrations.ts";
import { busyPatienceMs } from "./writer.ts";

export type Durability = "full" | "normal";

export interface DatabaseOptions {
  readonly path: string;
  readonly durability: Durability;
  /** Only for a file that does not exist yet. */
  readonly pageSize: number;
  readonly probe?: Probe;
  /** Pages after which the WAL is copied into the file; 0 never, so that its growth is what was written. */
  readonly checkpointPages?: number;
}

/** Older ones have a bug by which a WAL that several connections reset at once could be corrupted. */
const leastSqlite = [3, 51, 3] as const;
const synchronous = { full: 2, normal: 1 } as const;
/** On macOS a plain flush leaves the data in the disk's own cache; elsewhere the setting changes nothing. */
const fullfsync = { full: 1, normal: 0 } as const;
const openRetryMs = 5;
/** What a burst made of the WAL is given back to the disk by the next checkpoint that empties it. */
const walBytes = 64 * 1024 * 1024;

export async function openDatabase(options: DatabaseOptions, now: () => number): Promise<Connection> {
  checkVersion();
  const until = performance.now() + busyPatienceMs;
  for (;;) {
    try {
      return openOnce(options, now);
    } catch (cause) {
      const problem = problemOf(cause, options.path);
      if (problem) throw problem;
      if (performance.now() > until) throw storeBusy(options.path, cause);
      await delay(openRetryMs);
    }
  }
}

/** Undefined while the file is only busy. */
function problemOf(cause: unknown, path: string): HoldfastError | undefined {
  if (isHoldfastError(cause)) return cause;
  const failure = failureOf(cause, "work", path);
  if (failure.kind === "busy") return undefined;
  if (failure.error.code === "store-full") return failure.error;
  const what = `${path} cannot be opened as a store: ${messageOf(cause)}`;
  return new HoldfastError("store-unusable", what, { cause, details: { path } });
}

function openOnce(options: DatabaseOptions, now: () => number): Connection {
  const { path, probe } = options;
  const isNew = isAbsentOrEmpty(path);
  if (!isNew) lookFirst(path);
  const db = connect(path, probe ? { probe } : {});
  try {
    if (isNew) db.script(`PRAGMA page_size = ${options.pageSize}`);
    insist(db, "journal_mode", { value: "wal", path });
    insist(db, "synchronous", { value: synchronous[options.durability], path });
    insist(db, "fullfsync", { value: fullfsync[options.durability], path });
    insist(db, "secure_delete", { value: 1, path });
    insist(db, "journal_size_limit", { value: walBytes, path });
    if (options.checkpointPages !== undefined) db.script(`PRAGMA wal_autocheckpoint = ${options.checkpointPages}`);
    migrate(db, path, now());
    probe?.opened?.(db);
    return db;
  } catch (cause) {
    db.close();
    throw cause;
  }
}

function isAbsentOrEmpty(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) throw new HoldfastError("store-unusable", `${path} is a directory, not a file`);
  return (stat?.size ?? 0) === 0;
}

function lookFirst(path: string): void {
  const db = connect(path, { readOnly: true });
  try {
    checkSchema(db, path);
  } finally {
    db.close();
  }
}

function insist(
  db: Connection,
  pragma: string,
  wanted: { readonly value: string | number; readonly path: string },
): void {
  db.script(`PRAGMA ${pragma} = ${wanted.value}`);
  const inForce = db.get<Record<string, unknown>>(`PRAGMA ${pragma}`)?.[pragma];
  if (inForce === wanted.value) return;
  const message = `${wanted.path}: ${pragma} is ${inForce}, not ${wanted.value}; the file must be on a local disk`;
  throw new HoldfastError("store-unusable", message);
}

function checkVersion(): void {
  const db = connect(":memory:");
  const version = db.get<{ version: string }>("SELECT sqlite_version() AS version")?.version ?? "";
  db.close();
  if (isAtLeast(version, leastSqlite)) return;
  const message = `SQLite ${version} is too old: ${leastSqlite.join(".")} or newer is needed, as newer Node versions bring it`;
  throw new HoldfastError("store-unusable", message);
}

/** "3.53.4" against [3, 51, 3]. */
export function isAtLeast(version: string, least: readonly number[]): boolean {
  const parts = version.split(".").map(Number);
  const index = least.findIndex((part, place) => part !== (parts[place] ?? 0));
  return index === -1 || (parts[index] ?? 0) > (least[index] ?? 0);
}
