/** Transactions that are left open: whose they are decides who waits, and how it is told. */
import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { createRuntime } from "../../src/create-runtime.ts";
import { mostDue } from "../../src/ports/store-figures.ts";
import { postgres } from "../../src/postgres.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { inSchema } from "../../src/stores/postgres/database.ts";
import { announcement } from "../../src/stores/postgres/positions.ts";
import { postgresStore } from "../../src/stores/postgres/postgres.ts";
import { scopeA } from "../../src/testing/conformance/store-fixtures.ts";
import { laneClerk, quiet } from "./lanes.ts";
import { freshStore, opened, query, type TestStore } from "./shared-server.ts";

const clerk = laneClerk(3);

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

interface Watched {
  readonly runtime: Runtime;
  /** Another one on the same data, which hears no hints: it only asks. */
  readonly deaf: Runtime;
  readonly told: string[];
  /** Runs whose end the feed over many runs has shown. */
  readonly ended: string[];
}

async function watched({ url, schema }: TestStore): Promise<Watched> {
  const told: string[] = [];
  const logger = { warn: (message: string) => void told.push(message), note: () => undefined };
  const runtime = await createRuntime({ agents: [clerk], store: postgres({ url, schema }), logger });
  const deaf = await createRuntime({ store: postgresStore({ url, schema }), logger: quiet });
  onTestFinished(() => deaf.close());
  const stop = new AbortController();
  const ended: string[] = [];
  const watching = (async () => {
    for await (const event of runtime.watch({}, { signal: stop.signal })) {
      if (event.type === "run-ended") ended.push(event.run);
    }
  })();
  onTestFinished(async () => {
    stop.abort();
    await watching;
    await runtime.close();
  });
  return { runtime, deaf, told, ended };
}

/** Starts a run and reads its own feed to its end, here and where no hints come. */
async function seqsOf({ runtime, deaf }: Watched): Promise<{ readonly run: string; readonly seqs: readonly number[] }> {
  const { id } = await runtime.start(clerk, "Go");
  const read = async (from: Runtime): Promise<readonly number[]> => {
    const seqs: number[] = [];
    for await (const event of from.runs.get(id).watch()) if ("seq" in event) seqs.push(event.seq);
    return seqs;
  };
  const [seqs, there] = await Promise.all([read(runtime), read(deaf)]);
  expect(there).toEqual(seqs);
  return { run: id, seqs };
}

test("P4 a foreign transaction that is left open, with locks on a table of its own, stalls no feed and is no lag", {
  timeout: 60_000,
}, async () => {
  const fresh = await freshStore({ time: "database" });
  const all = await watched(fresh);
  const { runtime, ended } = all;
  const foreign = await connected(fresh.url);
  await foreign.query("BEGIN; CREATE TEMP TABLE theirs (n int); SELECT pg_current_xact_id()");
  await foreign.query("SELECT pg_advisory_xact_lock_shared(7), pg_advisory_xact_lock(3, 4)");
  const { run, seqs } = await seqsOf(all);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  await vi.waitFor(() => expect(ended).toContain(run), { timeout: 20_000 });
  await vi.waitFor(async () => expect(await runtime.metrics()).toMatchObject({ feedHidden: 0, feedLagMs: 0 }));
});

test("P4 a transaction of this store that hangs after it drew a position holds up the feed over many runs, which is told, and no run", {
  timeout: 60_000,
}, async () => {
  const fresh = await freshStore({ time: "database" });
  const all = await watched(fresh);
  const { runtime, told, ended } = all;
  const before = await seqsOf(all);
  await vi.waitFor(() => expect(ended).toEqual([before.run]), { timeout: 20_000 });
  const hanging = await connected(fresh.url);
  await hanging.query("BEGIN");
  await hanging.query(inSchema(`SELECT ${announcement(fresh.schema)}`, fresh.schema));
  await hanging.query(inSchema("SELECT nextval('hf.positions')", fresh.schema));
  const since = performance.now();

  const { run, seqs } = await seqsOf(all); // its own feed goes on, to its end
  expect(seqs.length).toBeGreaterThan(10);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  const first = await runtime.metrics();
  expect(first.feedHidden).toBeGreaterThan(5);
  expect(first.feedLagMs).toBeLessThan(performance.now() - since + 1_000);
  await vi.waitFor(() => expect(told.filter((message) => message.includes("lags"))).toHaveLength(1), {
    timeout: 30_000,
  });
  const later = await runtime.metrics();
  expect(later.feedLagMs).toBeGreaterThanOrEqual(5_000);
  expect(later.feedHidden).toBe(first.feedHidden);
  expect(ended).toEqual([before.run]);

  await hanging.query("ROLLBACK");
  await vi.waitFor(() => expect(ended).toEqual([before.run, run]), { timeout: 20_000 });
  await vi.waitFor(async () => expect(await runtime.metrics()).toMatchObject({ feedHidden: 0, feedLagMs: 0 }));
});

test("F1 a backlog is counted to its bound, and stands for more", async () => {
  const { url, schema, definition } = await freshStore({ time: "database" });
  const store = await opened(definition);
  const fill = `INSERT INTO hf.runs (no, scope, id, thread, thread_id, agent, fingerprint, created_at, status, queued, epoch,
      head, crashes, start_key, turn, placed, priority, ready)
    SELECT 1000000 + n, 'a', n::text, n, n::text, CASE n % 3 WHEN 0 THEN 'ann' ELSE 'bob' END, 'print', 0, 'created', false,
      0, 1, 0, n::text, n, 0, n % 5 - 2, 1 + n FROM generate_series(1, ${mostDue + 2_000}) AS n`;
  await query(url, inSchema(fill, schema));
  const [now] = await query<{ ms: string }>(url, "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS ms");
  const all = await store.figures({ scope: scopeA });
  expect(all.due).toBe(mostDue + 1);
  expect(all.dueMs).toBeGreaterThanOrEqual(Number(now?.ms) - 2);
  expect((await store.figures({ scope: scopeA, agents: ["ann"] })).due).toBe((mostDue + 2_000) / 3);
});
