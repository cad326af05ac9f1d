/** D1 behind a pooler in transaction mode: nothing that is kept on a connection is counted on. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgres } from "../../src/postgres.ts";
import { postgresStore, postgresWithProbe } from "../../src/stores/postgres/postgres.ts";
import { storeConformance } from "../../src/testing/conformance/store-conformance.ts";
import { birthOf } from "../../src/testing/conformance/store-fixtures.ts";
import { workThrough } from "./clerks.ts";
import { createTestServer, type TestServer } from "./embedded.ts";
import { deps, freshStore, opened, schemaName } from "./shared-server.ts";
import { createTransactionPooler } from "./transaction-pooler.ts";

let server: TestServer;

beforeAll(async () => {
  server = await createTestServer();
});
afterAll(() => server.remove());

describe("D1 the postgres store whose transactions go to ever other connections", () => {
  const isLong = (fact: string): boolean => fact.startsWith("an inbox is full");
  const checks = Object.entries(storeConformance).filter(([fact], index) => index % 11 === 0 && !isLong(fact));
  test.each(checks)("%s", async (_, check) => {
    const { url, moves } = await createTransactionPooler(server.url);
    await check(postgresStore({ url, schema: schemaName(), prepare: false, time: "clock" }).open);
    expect(moves()).toBeGreaterThan(3);
  });
});

test("D1 runs are worked on through it, with hints over a connection of their own", async () => {
  const { url, moves } = await createTransactionPooler(server.url);
  const store = postgres({ url, schema: schemaName(), prepare: false, notifyUrl: server.url });
  await workThrough({ store, runs: 10, steps: 4 });
  expect(moves()).toBeGreaterThan(50);
});

test("prepared statements behind a pooler that does not keep them are refused with the option that helps", async () => {
  const { url } = await createTransactionPooler(server.url);
  const definition = postgresStore({ url, schema: schemaName() });
  const trouble = async (): Promise<void> => {
    const store = await definition.open(deps);
    try {
      for (let n = 0; n < 3; n += 1) await store.create(birthOf(`r${n}`));
    } finally {
      await store.close();
    }
  };
  await expect(trouble()).rejects.toThrow(/postgres\({ prepare: false }\)/);
});

/** Statements that leave something on the connection. */
const keeps = /^(SET (?!LOCAL|TRANSACTION)|LISTEN|PREPARE|DECLARE|CREATE TEMP)/i;

test("D1 outside a transaction no connection of the pool is given a setting, a lock or a channel", async () => {
  const { url, schema } = await freshStore();
  const kept: string[] = [];
  const before = (sql: string): void => {
    const isKept = sql.split(";").some((each) => keeps.test(each.trim()));
    if (isKept || /pg_(try_)?advisory_lock|set_config\(/.test(sql)) kept.push(sql);
  };
  const definition = postgresWithProbe({ url, schema }, { before });
  await workThrough({ store: definition, runs: 5, steps: 2 });
  await opened(definition);
  expect(kept).toEqual([]);
});
