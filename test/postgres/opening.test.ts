/** What cannot be used is refused in one sentence that names host and database, and never the password. */
import { expect, onTestFinished, test } from "vitest";
import { type HoldfastError, isHoldfastError } from "../../src/domain/errors.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { postgres } from "../../src/postgres.ts";
import { postgresStore } from "../../src/stores/postgres/postgres.ts";
import { birthOf, keyOf } from "../../src/testing/conformance/store-fixtures.ts";
import { createTestServer } from "./embedded.ts";
import { deps, freshStore, opened, query, serverUrl } from "./shared-server.ts";

async function refusal(definition: StoreDefinition): Promise<HoldfastError> {
  try {
    await (await definition.open(deps)).close();
  } catch (cause) {
    if (isHoldfastError(cause)) return cause;
    throw cause;
  }
  throw new Error("it was opened");
}

function changed(url: string, change: (url: URL) => void): string {
  const other = new URL(url);
  change(other);
  return other.href;
}

test("a server that is not there, a wrong password and a wrong database are named without the password", async () => {
  const url = await serverUrl();
  const nobody = await refusal(postgresStore("postgres://me:hidden@127.0.0.1:1/db"));
  expect([nobody.code, nobody.message]).toEqual(["store-unavailable", expect.stringContaining("127.0.0.1:1/db")]);
  const nowhere = await refusal(postgresStore(changed(url, (to) => (to.pathname = "/nothing"))));
  expect([nowhere.code, nowhere.message]).toEqual(["store-unusable", expect.stringContaining("/nothing")]);
  const wrong = await refusal(postgresStore(changed(url, (to) => (to.password = "hidden"))));
  for (const error of [nobody, nowhere, wrong]) expect(error.message).not.toMatch(/hidden|secret/);
  if (wrong.code !== "store-unusable") expect(wrong.message).toContain("opened"); // a server that trusts everyone
});

test("options that do not fit are refused by name, all at once", () => {
  const bad = { url: "mysql://x", schema: "pg_mine", connections: 0, prepare: 1, time: "sun", poolSize: 3 };
  const problems = ["url", "schema", "connections", "prepare", "time", "poolSize"];
  try {
    postgres(bad as never);
    expect.unreachable();
  } catch (cause) {
    expect(isHoldfastError(cause, "invalid-options")).toBe(true);
    for (const name of problems) expect((cause as Error).message).toContain(name);
  }
  expect(() => postgres({ url: "postgres://h/d", notifyUrl: "x" })).toThrow(/notifyUrl/);
  for (const nothing of [undefined, null, 7, ""]) expect(() => postgres(nothing as never)).toThrow(/url/);
});

test("a role without rights on the schema is refused before anything is written", async () => {
  const { url, schema } = await freshStore();
  await query(url, `CREATE ROLE "${schema}" LOGIN PASSWORD 'poor'`);
  onTestFinished(async () => void (await query(url, `DROP ROLE IF EXISTS "${schema}"`)));
  const error = await refusal(
    postgresStore({
      url: changed(url, (to) => {
        to.username = schema;
        to.password = "poor";
      }),
      schema,
    }),
  );
  expect([error.code, error.message]).toEqual(["store-unusable", expect.stringContaining(schema)]);
  expect(error.message).not.toContain("poor");
});

test("N1 a newer schema, a changed migration and foreign tables are refused untouched", async () => {
  const newer = await freshStore();
  await (await newer.definition.open(deps)).close();
  await query(newer.url, `INSERT INTO "${newer.schema}".migrations VALUES (99, 'from the future', 'x')`);
  expect((await refusal(newer.definition)).code).toBe("store-newer");
  const other = await freshStore();
  await (await other.definition.open(deps)).close();
  await query(other.url, `UPDATE "${other.schema}".migrations SET checksum = 'other'`);
  expect((await refusal(other.definition)).code).toBe("store-unusable");
  const foreign = await freshStore();
  await query(foreign.url, `CREATE SCHEMA "${foreign.schema}"`);
  await query(foreign.url, `CREATE TABLE "${foreign.schema}".customers (id int)`);
  expect((await refusal(foreign.definition)).message).toContain("another program");
  const tables = "SELECT count(*)::int AS n FROM pg_tables WHERE schemaname = $1";
  expect(await query(foreign.url, tables, [foreign.schema])).toEqual([{ n: 1 }]);
});

test("N2 ten processes that open a new schema at once all find it ready", async () => {
  const { definition } = await freshStore();
  const stores = await Promise.all(Array.from({ length: 10 }, () => definition.open(deps)));
  await Promise.all(stores.map((store, n) => store.create(birthOf(`r${n}`))));
  for (const [n, store] of stores.entries()) expect((await store.run(keyOf(`r${n}`)))?.head).toBe(1);
  await Promise.all(stores.map((store) => store.close()));
});

test("O2 a server that does not wait for its disk is told to the operator", { timeout: 120_000 }, async () => {
  const server = await createTestServer(["-c", "synchronous_commit=off"]);
  onTestFinished(() => server.remove());
  const told: string[] = [];
  const logger = { warn: (message: string) => void told.push(message), note: () => undefined };
  const store = await postgresStore(server.url).open({ ...deps, logger });
  await store.close();
  expect(told).toEqual([expect.stringContaining("synchronous_commit is off")]);
});

test("a clock that is far from the server's is told to the operator", async () => {
  const { definition } = await freshStore({ time: "database" });
  const told: string[] = [];
  const logger = { warn: (message: string) => void told.push(message), note: () => undefined };
  const store = await definition.open({ clock: { ...deps.clock, now: () => Date.now() + 60_000 }, logger });
  await store.close();
  expect(told).toEqual([expect.stringMatching(/differ by (59|60)\d{3} ms/)]);
});

test("a store whose server has no connections left says busy, and works again when there are", async () => {
  const { definition } = await freshStore({ connections: 1 });
  const store = await opened(definition);
  await Promise.all(Array.from({ length: 50 }, (_, n) => store.create(birthOf(`r${n}`))));
  await Promise.all(Array.from({ length: 50 }, (_, n) => store.run(keyOf(`r${n}`)))); // one connection is enough
});
