/** A server that cannot be used is refused in one sentence: what was tried, never the password, and what to do. */
import { expect, onTestFinished, test } from "vitest";
import { postgresStore } from "../../src/stores/postgres/postgres.ts";
import { birthOf } from "../../src/testing/conformance/store-fixtures.ts";
import { createProxy } from "./proxy.ts";
import { changed, refusal } from "./refusal.ts";
import { freshStore, opened, query, serverUrl } from "./shared-server.ts";

test("a wrong host, port, password, database, user or URL is named, without the password", async () => {
  const url = await serverUrl();
  const { host } = new URL(url);
  const cases: readonly (readonly [string, string, RegExp])[] = [
    [
      "postgres://me:hidden@127.0.0.1:1/db",
      "store-unavailable",
      /127\.0\.0\.1:1\/db: cannot be reached .*host and port/,
    ],
    ["postgres://me:hidden@nobody.invalid/db", "store-unavailable", /nobody\.invalid\/db: cannot be reached .*host/],
    [changed(url, { pathname: "/nothing" }), "store-unusable", /\/nothing: there is no such database: create it/],
    [changed(url, { password: "hidden" }), "store-unusable", /did not let us in: check user, password/],
    [changed(url, { username: "stranger" }), "store-unusable", /did not let us in: .*"stranger"/],
    [`${url}?sslmode=verify-full`, "store-unusable", /asks for TLS, which the server does not offer/],
    ["postgres://me:hid%den@127.0.0.1:1/db", "store-unusable", /the URL cannot be used: encode/],
  ];
  for (const [given, code, message] of cases) {
    const error = await refusal(postgresStore(given));
    expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)]);
    if (new URL(given).host === host) expect(error.message).toContain(host);
    expect(`${error.message} ${String(error.cause)}`).not.toMatch(/hidden|hid%den|secret/);
  }
});

interface Role {
  readonly url: string;
  readonly schema: string;
  readonly name: string;
}

/** A role that owns nothing, and a schema that is not there. */
async function poorRole(): Promise<Role> {
  const { url, schema } = await freshStore();
  await query(url, `CREATE ROLE "${schema}" LOGIN PASSWORD 'poor'`);
  onTestFinished(async () => void (await query(url, `DROP OWNED BY "${schema}"; DROP ROLE "${schema}"`)));
  return { url: changed(url, { username: schema, password: "poor" }), schema, name: schema };
}

test("a role without rights on the schema is refused before anything is written", async () => {
  const { url, schema } = await poorRole();
  const error = await refusal(postgresStore({ url, schema }));
  expect([error.code, error.message]).toEqual([
    "store-unusable",
    expect.stringMatching(new RegExp(`may not create or use schema ${schema}: grant it CREATE on the database`)),
  ]);
  expect(error.message).not.toContain("poor");
  expect(await query(url, "SELECT FROM pg_namespace WHERE nspname = $1", [schema])).toEqual([]);
});

test("O3 a role that may only read is refused by the names of the tables; with the rights it is told of, it works", async () => {
  const { url, schema, name } = await poorRole();
  const owner = await serverUrl();
  await (await opened(postgresStore({ url: owner, schema }))).create(birthOf("r0"));
  await query(owner, `GRANT USAGE ON SCHEMA "${schema}" TO "${name}"`);
  await query(owner, `GRANT SELECT ON ALL TABLES IN SCHEMA "${schema}" TO "${name}"`);
  const reader = await refusal(postgresStore({ url, schema }));
  expect([reader.code, reader.message]).toEqual([
    "store-unusable",
    expect.stringMatching(new RegExp(`role ${name} may not write to .*journal, .*runs.*grant it SELECT, INSERT`)),
  ]);
  await query(owner, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO "${name}"`);
  expect((await refusal(postgresStore({ url, schema }))).message).toContain("positions");
  await query(owner, `GRANT SELECT, USAGE ON ALL SEQUENCES IN SCHEMA "${schema}" TO "${name}"`);
  const store = await opened(postgresStore({ url, schema }));
  expect((await store.create(birthOf("r1"))).kind).toBe("created");
});

test("a role that may not write at all is refused, whether the schema is there or not", async () => {
  const { url, schema, name } = await poorRole();
  const owner = await serverUrl();
  await query(owner, `GRANT CREATE ON DATABASE postgres TO "${name}"`);
  await query(owner, `ALTER ROLE "${name}" SET default_transaction_read_only = on`);
  const error = await refusal(postgresStore({ url, schema }));
  expect([error.code, error.message]).toEqual([
    "store-unusable",
    expect.stringContaining("default_transaction_read_only is on"),
  ]);
  await query(owner, `ALTER ROLE "${name}" RESET default_transaction_read_only`);
  await (await opened(postgresStore({ url, schema }))).create(birthOf("r0"));
});

test("O1 a server of an old version is refused by its number before anything is written", async () => {
  const url = await serverUrl();
  const [found] = await query<{ version: string }>(url, "SELECT current_setting('server_version_num') AS version");
  const { schema } = await freshStore();
  const pretend = (version: string) => (answer: Buffer) =>
    Buffer.from(answer.toString("latin1").replaceAll(found?.version ?? "", version), "latin1");
  const pass = (): "pass" => "pass";
  const old = await createProxy(url, pass, pretend("140019"));
  const error = await refusal(postgresStore({ url: old.url, schema }));
  expect([error.code, error.message]).toEqual([
    "store-unusable",
    expect.stringContaining("PostgreSQL 14 is too old: 15"),
  ]);
  expect(await query(url, "SELECT FROM pg_namespace WHERE nspname = $1", [schema])).toEqual([]);
  const least = await createProxy(url, pass, pretend("150000"));
  await opened(postgresStore({ url: least.url, schema }));
});
