/** The feed over many runs: no row is passed over, whoever commits late; a run's own reads wait for nobody. */
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { Claim, CommittedRow, Store } from "../../src/ports/store.ts";
import { inSchema } from "../../src/stores/postgres/database.ts";
import { announcement } from "../../src/stores/postgres/positions.ts";
import { postgresStore } from "../../src/stores/postgres/postgres.ts";
import {
  birthOf,
  claimAll,
  claimOne,
  keyOf,
  said,
  scopeA,
  started,
  stepped,
  throwsCode,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { deps, freshStore, opened, query, type TestStore } from "./shared-server.ts";

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function freshlyOpened(): Promise<TestStore & { readonly store: Store }> {
  const fresh = await freshStore({ time: "database" });
  return { ...fresh, store: await opened(fresh.definition) };
}

test("P4 someone else's open transaction stalls neither a run's reads nor the feed over many runs", async () => {
  const { url, store } = await freshlyOpened();
  const other = await connected(url);
  await other.query("BEGIN; CREATE TEMP TABLE theirs (n int); SELECT pg_current_xact_id()");
  await store.create(birthOf("r1"));
  await write(store, await claimOne(store), { entries: [started(0), said("m")], after: 1 });
  expect((await store.run(keyOf("r1")))?.head).toBe(3);
  expect(await store.readRun({ ...keyOf("r1"), after: 0, limit: 9 })).toHaveLength(3);
  expect(await store.readAll({ scope: scopeA, after: 0, limit: 9 })).toHaveLength(2);
  await other.query("ROLLBACK");
});

test("P2 a row that is committed late is not passed over: the feed waits for it, a run's own reads do not", async () => {
  const { url, schema, store } = await freshlyOpened();
  await store.create(birthOf("r1"));
  const claim = await claimOne(store);
  const head = await store.head();
  // A writer of this store that has drawn a position and not committed yet.
  const late = await connected(url);
  await late.query("BEGIN");
  await late.query(inSchema(`SELECT ${announcement(schema)}`, schema));
  const [{ at }] = (await late.query(inSchema("SELECT nextval('hf.positions')::int AS at", schema))).rows;
  await write(store, claim, { entries: [started(0), stepped(1)], after: 1 });
  expect((await store.readRun({ ...keyOf("r1"), after: 1, limit: 9 })).map((entry) => entry.seq)).toEqual([2, 3]);
  expect(await store.head()).toBe(head);
  expect(await store.readAll({ scope: scopeA, after: head, limit: 9 })).toEqual([]);
  const insert = `INSERT INTO hf.journal (at, scope, run, seq, n, time, m, format, body)
    SELECT $1, 'a', no, 99, 0, 0, 0, 1, '[]' FROM hf.runs`;
  await late.query(inSchema(insert, schema), [at]);
  await late.query("COMMIT");
  const rows = await store.readAll({ scope: scopeA, after: head, limit: 9 });
  expect(rows.map((row) => row.position)).toEqual([at, at + 1]);
  expect(await store.head()).toBe(at + 1);
});

test("A3 a feed that stands still is told to the operator", { timeout: 30_000 }, async () => {
  const fresh = await freshStore({ time: "database" });
  const told: string[] = [];
  const logger = { warn: (message: string) => void told.push(message), note: () => undefined };
  const store = await fresh.definition.open({ ...deps, logger });
  onTestFinished(() => store.close());
  const late = await connected(fresh.url);
  await late.query("BEGIN");
  await late.query(inSchema(`SELECT ${announcement(fresh.schema)}`, fresh.schema));
  await store.create(birthOf("r1"));
  for (const until = Date.now() + 5_500; Date.now() < until; await new Promise((resolve) => setTimeout(resolve, 100))) {
    await store.head();
  }
  expect(told.filter((message) => message.includes("lags"))).toHaveLength(1);
});

const writers = 8;
const perWriter = Number(process.env.HOLDFAST_ORDER_COMMITS ?? 250);

test(`${writers} writers append ${writers * perWriter} commits: readers that begin again at random see one order, whole`, {
  timeout: 300_000,
}, async () => {
  const fresh = await freshStore({ time: "database" });
  const stores = await Promise.all([1, 2].map(() => opened(postgresStore({ url: fresh.url, schema: fresh.schema }))));
  const [first, second] = stores as [Store, Store];
  await Promise.all(Array.from({ length: writers }, (_, n) => first.create(birthOf(`r${n}`))));
  const claims = await claimAll(first);
  let isDone = false;

  async function append(store: Store, claim: Claim): Promise<void> {
    for (let head = 1; head <= perWriter; head += 1)
      await write(store, claim, { entries: [stepped(head)], after: head });
  }
  async function follow(store: Store, patience: number): Promise<readonly CommittedRow[]> {
    const seen: CommittedRow[] = [];
    for (let left = patience; ; ) {
      const wasDone = isDone;
      const limit = 1 + Math.floor(Math.random() * 40);
      const rows = await store.readAll({ scope: scopeA, after: seen.at(-1)?.position ?? 0, limit });
      seen.push(...rows);
      left -= 1;
      if (left === 0 && !isDone) {
        seen.splice(Math.max(0, seen.length - Math.floor(Math.random() * 100))); // a reader that forgets where it was
        left = patience;
      }
      if (wasDone && rows.length === 0) return seen;
    }
  }
  const reading = Array.from({ length: 6 }, (_, n) => follow(n % 2 === 0 ? first : second, 7 + n));
  await Promise.all(claims.map((claim, n) => append(n % 2 === 0 ? first : second, claim)));
  isDone = true;
  const orders = await Promise.all(reading);
  const whole = await first.readAll({ scope: scopeA, after: 0, limit: 1_000_000 });
  expect(whole).toHaveLength(writers * (perWriter + 1));
  const places = whole.map((row) => `${row.position} ${row.run} ${row.entries[0]?.seq}`);
  for (const order of orders)
    expect(order.map((row) => `${row.position} ${row.run} ${row.entries[0]?.seq}`)).toEqual(places);
  for (const claim of claims) {
    const seqs = whole.filter((row) => row.run === claim.run).map((row) => row.entries[0]?.seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  }
});

test("a row that someone else holds fails only those who need it, and they may come again", {
  timeout: 60_000,
}, async () => {
  const { url, schema, store } = await freshlyOpened();
  await Promise.all(Array.from({ length: 20 }, (_, n) => store.create(birthOf(`r${n}`))));
  const claims = await claimAll(store);
  const other = await connected(url);
  await other.query(inSchema("BEGIN; SELECT * FROM hf.runs WHERE id = 'r3' FOR UPDATE", schema));
  const commits = claims.map((claim) => write(store, claim, { entries: [started(0), stepped(1)], after: 1 }));
  const settled = await Promise.allSettled(commits);
  expect(settled.filter(({ status }) => status === "rejected")).toHaveLength(1);
  const held = claims.find((claim) => claim.run === "r3")!;
  await throwsCode(write(store, held, { entries: [started(0)], after: 1 }), "store-busy");
  expect((await store.run(keyOf("r3")))?.head).toBe(1); // reads wait for nobody
  await other.query("ROLLBACK");
  await write(store, held, { entries: [started(0)], after: 1 });
});

test("D1 nothing is left on a connection between two transactions", async () => {
  const { url, schema, store } = await freshlyOpened();
  await store.create(birthOf("r1"));
  await write(store, await claimOne(store), { entries: [started(0)], after: 1 });
  const held = await query(
    url,
    "SELECT * FROM pg_locks WHERE locktype = 'advisory' AND pid IN (SELECT pid FROM pg_stat_activity WHERE query LIKE $1)",
    [`%${schema}%`],
  );
  expect(held).toEqual([]);
});
