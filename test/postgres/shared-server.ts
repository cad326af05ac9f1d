/**
 * Where the tests find PostgreSQL: the server named by HOLDFAST_TEST_POSTGRES_URL, or an embedded one that the first
 * test file starts and all others of the same run share. Every caller gets a schema of its own. With
 * HOLDFAST_TEST_POSTGRES_PREPARE=false no statement is prepared, as behind an old pooler.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { afterAll, onTestFinished } from "vitest";
import { nodeClock } from "../../src/platform/node-clock.ts";
import type { Store, StoreDefinition, StoreDeps } from "../../src/ports/store.ts";
import { type PostgresStoreOptions, postgresStore } from "../../src/stores/postgres/postgres.ts";

const patienceMs = 50_000;

export async function serverUrl(): Promise<string> {
  const given = process.env.HOLDFAST_TEST_POSTGRES_URL;
  if (given) return given;
  // Workers of one run are children of one process.
  const directory = join(tmpdir(), `holdfast-postgres-run-${process.ppid}`);
  const file = join(directory, "url");
  if (isFirst(directory)) startServer(file);
  for (const until = Date.now() + patienceMs; Date.now() < until; await delay(50)) {
    if (existsSync(file)) return readFileSync(file, "utf8");
  }
  throw new Error(`No PostgreSQL server has come up (see ${file})`);
}

/** Only one process can make the directory. */
function isFirst(directory: string): boolean {
  try {
    mkdirSync(directory);
    return true;
  } catch {
    return false;
  }
}

function startServer(file: string): void {
  const script = join(import.meta.dirname, "serve.ts");
  spawn(process.execPath, [script, String(process.ppid), file], { detached: true, stdio: "ignore" }).unref();
}

let schemas = 0;

export function schemaName(): string {
  schemas += 1;
  return `t${process.pid}_${Date.now().toString(36)}_${schemas}`;
}

export async function query<Row>(url: string, sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql, values as unknown[])).rows as Row[];
  } finally {
    await client.end();
  }
}

export interface TestStore {
  readonly url: string;
  readonly schema: string;
  readonly definition: StoreDefinition;
}

/** False behind a pooler that keeps no prepared statements. */
export const prepare: boolean = process.env.HOLDFAST_TEST_POSTGRES_PREPARE !== "false";

/** A store on fresh data; its schema goes with the test file. */
export async function freshStore(options: Partial<PostgresStoreOptions> = {}): Promise<TestStore> {
  const { url, schema } = await freshSchema(options.url);
  return { url, schema, definition: postgresStore({ url, schema, prepare, time: "clock", ...options }) };
}

/** The name of a schema that is not there yet and goes with the test file. */
export async function freshSchema(given?: string): Promise<{ readonly url: string; readonly schema: string }> {
  const named = { url: given ?? (await serverUrl()), schema: schemaName() };
  dropped.push(named);
  return named;
}

const dropped: { readonly url: string; readonly schema: string }[] = [];

afterAll(async () => {
  for (const { url, schema } of dropped.splice(0)) {
    await query(url, `DROP SCHEMA IF EXISTS "${schema}" CASCADE`).catch(() => undefined);
  }
});

export const deps: StoreDeps = {
  clock: nodeClock,
  logger: { warn: () => undefined, note: () => undefined },
};

export async function opened(definition: StoreDefinition): Promise<Store> {
  const store = await definition.open(deps);
  onTestFinished(() => store.close());
  return store;
}
