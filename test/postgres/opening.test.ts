/** What is said when a store is opened that can be used. What cannot: see refusals.test.ts and migrations.test.ts. */
import { expect, onTestFinished, test, vi } from "vitest";
import { isHoldfastError } from "../../src/domain/errors.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { postgres } from "../../src/postgres.ts";
import { postgresStore, postgresWithProbe } from "../../src/stores/postgres/postgres.ts";
import { createTestServer } from "./embedded.ts";
import { deps, freshSchema, freshStore, query } from "./shared-server.ts";

test("options that do not fit are refused by name, all at once", () => {
  const bad = {
    url: "mysql://x",
    schema: "pg_mine",
    connections: 0,
    prepare: 1,
    time: "sun",
    notifyUrl: "x",
    poolSize: 3,
  };
  const problems = ["url", "schema", "connections", "prepare", "time", "notifyUrl", "poolSize"];
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

/** What the operator is told when the store is opened. */
async function warnings(definition: StoreDefinition, clock: Clock = deps.clock): Promise<readonly string[]> {
  const told: string[] = [];
  const logger = { warn: (message: string) => void told.push(message), note: () => undefined };
  await (await definition.open({ clock, logger })).close();
  return told;
}

/** The embedded server of the tests does not wait for its disk, and says so each time. */
const others = (told: readonly string[]): readonly string[] => told.filter((each) => !each.includes("fsync is off"));

test("O2 a server, a database or a role that does not wait for its disk is told to the operator", {
  timeout: 120_000,
}, async () => {
  const server = await createTestServer(["-c", "full_page_writes=off"]);
  onTestFinished(() => server.remove());
  const told = await warnings(postgresStore(server.url));
  expect(told).toEqual([expect.stringContaining("fsync is off"), expect.stringContaining("full_page_writes is off")]);
  await query(server.url, "ALTER DATABASE postgres SET synchronous_commit = off");
  const weak = expect.stringMatching(/127\.0\.0\.1:\d+\/postgres: synchronous_commit is off: .*missing/);
  expect(await warnings(postgresStore(server.url))).toEqual([weak, ...told]);
  await query(server.url, "ALTER DATABASE postgres RESET synchronous_commit");
  expect(await warnings(postgresStore(server.url))).toEqual(told);
  await query(server.url, "ALTER ROLE postgres SET synchronous_commit = off");
  expect(await warnings(postgresStore(server.url))).toEqual([weak, ...told]);
});

test("a clock that is far from the server's is told to the operator", async () => {
  const { definition } = await freshStore({ time: "database" });
  const told = await warnings(definition, { ...deps.clock, now: () => Date.now() + 60_000 });
  expect(others(told)).toEqual([expect.stringMatching(/differ by (59|60)\d{3} ms/)]);
  expect(others(await warnings(definition))).toEqual([]);
});

test("a store that cannot be told the time is not opened, and leaves no connection behind", async () => {
  const { url, schema } = await freshSchema();
  const named = new URL(url);
  named.searchParams.set("application_name", schema);
  const before = (sql: string): void => {
    if (sql.includes("coalesce(NULL::bigint"))
      throw Object.assign(new Error("no"), { code: "XX000", severity: "ERROR" });
  };
  await expect(postgresWithProbe({ url: named.href, schema }, { before }).open(deps)).rejects.toThrow("XX000");
  const sql = "SELECT pid FROM pg_stat_activity WHERE application_name = $1";
  await vi.waitFor(async () => expect(await query(url, sql, [schema])).toEqual([]), { timeout: 10_000 });
});
