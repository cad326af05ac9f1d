/** A schema that does not fit is refused untouched; one that is being made is made once. */
import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { postgresStore, postgresWithProbe } from "../../src/stores/postgres/postgres.ts";
import { birthOf, keyOf } from "../../src/testing/conformance/store-fixtures.ts";
import { refusal } from "./refusal.ts";
import { deps, freshStore, opened, query, type TestStore } from "./shared-server.ts";

/** Everything that a migration could have changed. */
async function layoutOf({ url, schema }: TestStore): Promise<readonly unknown[]> {
  const tables = `SELECT relname, relkind, relnatts, xmin::text FROM pg_class
    WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) ORDER BY relname`;
  return query(url, tables, [schema]);
}

/** A ready schema to which something was done, and what opening it says. */
async function spoiled(sql: string): Promise<readonly [code: string, message: string]> {
  const store = await freshStore();
  await (await store.definition.open(deps)).close();
  await query(store.url, sql.replaceAll("hf.", `"${store.schema}".`));
  const before = await layoutOf(store);
  const { code, message } = await refusal(store.definition);
  expect(await layoutOf(store)).toEqual(before);
  expect(message).toContain(store.schema);
  return [code, message];
}

test("N1 a newer schema, a changed migration, a lost record and lost tables are refused untouched", async () => {
  expect(await spoiled("INSERT INTO hf.migrations VALUES (99, 'from the future', 'x')")).toEqual([
    "store-newer",
    expect.stringMatching(/is of version 99; this version knows up to \d/),
  ]);
  expect(await spoiled("UPDATE hf.migrations SET checksum = 'other' WHERE number = 1")).toEqual([
    "store-unusable",
    expect.stringContaining("migration 1 of schema"),
  ]);
  expect(await spoiled("DELETE FROM hf.migrations WHERE number = 1")).toEqual([
    "store-unusable",
    expect.stringMatching(/has no record of migration 1: restore it from a backup/),
  ]);
  expect(await spoiled("DROP TABLE hf.tickets; DROP SEQUENCE hf.positions")).toEqual([
    "store-unusable",
    expect.stringMatching(/has lost positions, tickets: restore it from a backup/),
  ]);
});

test("N1 a schema of another program is left alone", async () => {
  const foreign = await freshStore();
  await query(foreign.url, `CREATE SCHEMA "${foreign.schema}"; CREATE TABLE "${foreign.schema}".customers (id int)`);
  const before = await layoutOf(foreign);
  const error = await refusal(foreign.definition);
  expect([error.code, error.message]).toEqual(["store-unusable", expect.stringContaining("another program")]);
  expect(await layoutOf(foreign)).toEqual(before);
});

test("N2 ten that open a new schema at once all find it ready", async () => {
  const { definition } = await freshStore();
  const stores = await Promise.all(Array.from({ length: 10 }, () => definition.open(deps)));
  await Promise.all(stores.map((store, n) => store.create(birthOf(`r${n}`))));
  for (const [n, store] of stores.entries()) expect((await store.run(keyOf(`r${n}`)))?.head).toBe(1);
  await Promise.all(stores.map((store) => store.close()));
});

test("N2 who waited while a newer version made the schema refuses it", async () => {
  const { url, schema, definition } = await freshStore();
  let isNewer = false;
  const before = async (sql: string): Promise<void> => {
    if (!sql.includes("pg_advisory_xact_lock(hash") || isNewer) return;
    isNewer = true; // between the first look and the lock
    await (await definition.open(deps)).close();
    await query(url, `INSERT INTO "${schema}".migrations VALUES (99, 'from the future', 'x')`);
  };
  expect((await refusal(postgresWithProbe({ url, schema }, { before }))).code).toBe("store-newer");
  expect(isNewer).toBe(true);
});

test("N2 a process that is killed in the middle of the migration leaves nothing, and those that wait go on", async () => {
  const { url, schema } = await freshStore();
  const script = new URL("children/open-half.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, url, schema], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise((resolve) => child.stdout.once("data", resolve)); // every table is made, nothing is committed
  const waiting = postgresStore({ url, schema }).open(deps);
  const isWaiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
  while ((await query(url, isWaiting)).length === 0) await delay(10);
  child.kill("SIGKILL");
  const store = await waiting;
  onTestFinished(() => store.close());
  expect((await store.create(birthOf("r0"))).kind).toBe("created");
  await opened(postgresStore({ url, schema }));
});
