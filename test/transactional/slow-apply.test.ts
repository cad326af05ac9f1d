/** On Postgres `apply` takes its time while others want the run, the rows or a connection. */
import { expect, onTestFinished, test } from "vitest";
import { agent, createRuntime, type Runtime } from "../../src/index.ts";
import { postgresStore } from "../../src/stores/postgres/postgres.ts";
import { scripted } from "../../src/testing.ts";
import { query } from "../postgres/shared-server.ts";
import { aClerk, aPostgresPlace, bookOnPostgres, expectKeptTogether, patience, quiet } from "./bookings.ts";

const insert = (bookings: string): string => `INSERT INTO ${bookings} VALUES ($1, $2)`;

function aGate(): { readonly open: () => void; readonly opened: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, opened: promise };
}

test("T2, T6 fifty calls that hang are timed out, leave no connection and no row behind, and later calls work", async () => {
  const name = `hangs${process.pid}`;
  const place = await aPostgresPlace({ connections: 4 });
  const url = `${place.url}${place.url.includes("?") ? "&" : "?"}application_name=${name}`;
  const definition = postgresStore({ url, schema: place.schema, connections: 4 });
  const book = bookOnPostgres(async (tx, { n }, { callId }) => {
    await tx.query(insert(place.bookings), [callId, n]);
    if (n >= 50) return "booked";
    if (n % 49 === 0) await tx.query("SELECT pg_sleep(600)");
    return new Promise<never>(() => undefined);
  }, 50);
  const { runtime, clerk } = await aClerk({ ...place, definition }, book, { calls: 51 });
  const run = await runtime.start(clerk, "Book.");
  expect(await run.result(patience(40_000))).toMatchObject({ outcome: "completed" });
  const results = await expectKeptTogether(place);
  const codes = results.map(({ result }) => (result.kind === "error" ? result.code : result.kind));
  expect(codes.filter((code) => code === "timed-out")).toHaveLength(50);
  expect(codes.filter((code) => code === "value")).toHaveLength(1);
  const sessions = `SELECT 1 FROM pg_stat_activity WHERE application_name = '${name}'`;
  await expect.poll(async () => (await query(place.url, sessions)).length, { timeout: 10_000 }).toBeLessThanOrEqual(4);
});

test("W8 slow transactions leave a connection to the runs that have none", async () => {
  const place = await aPostgresPlace({ connections: 4 });
  const gate = aGate();
  const book = bookOnPostgres(async (tx, { n }, { callId }) => {
    await gate.opened;
    await tx.query(insert(place.bookings), [callId, n]);
  });
  const slow = agent({
    name: "slow",
    instructions: "Book.",
    tools: [book],
    model: scripted([{ calls: [{ tool: "book", input: { n: 1 } }] }, "Done."]),
  });
  const plain = agent({ name: "plain", instructions: "Talk.", model: scripted(["Hi."]) });
  const runtime = await createRuntime({ agents: [slow, plain], store: place.definition, logger: quiet });
  onTestFinished(() => runtime.close());
  onTestFinished(() => gate.open());
  const runs = await Promise.all([1, 2, 3].map(() => runtime.start(slow, "Book.")));
  const talk = await runtime.start(plain, "Hello?");
  expect(await talk.result(patience(15_000))).toMatchObject({ outcome: "completed", output: "Hi." });
  gate.open();
  for (const run of runs) expect(await run.result(patience())).toMatchObject({ outcome: "completed" });
  expect(await expectKeptTogether(place)).toHaveLength(3);
});

interface Scene {
  readonly here: Runtime;
  readonly there: Runtime;
  /** Resolves in the middle of `apply`. */
  readonly applying: Promise<void>;
  readonly start: () => Promise<string>;
  readonly place: Awaited<ReturnType<typeof aPostgresPlace>>;
}

/** Two processes on one schema; `apply` holds the run's row for longer than anyone waits for a row. */
async function aSlowScene(seconds: number, settings: { leaseMs?: number; thinksMs?: number } = {}): Promise<Scene> {
  const place = await aPostgresPlace();
  const { open, opened: applying } = aGate();
  const book = bookOnPostgres(async (tx, { n }, { callId }) => {
    await tx.query(insert(place.bookings), [callId, n]);
    open();
    await tx.query("SELECT pg_sleep($1)", [seconds]);
    return "booked";
  });
  const { runtime: here, clerk } = await aClerk(place, book, settings);
  const { runtime: there } = await aClerk(place, book, settings);
  return { here, there, applying, place, start: async () => (await here.start(clerk, "Book.", { thread: "t" })).id };
}

test("S5 inputs that come while apply holds the run are taken, from this process and another", async () => {
  const { here, there, applying, start, place } = await aSlowScene(2.5);
  const id = await start();
  await applying;
  const sent = [here, there].map((runtime) => runtime.runs.get(id).send("Be quick."));
  for (const each of await Promise.all(sent)) expect(each.id).toBeTruthy();
  expect(await here.runs.get(id).result(patience())).toMatchObject({ outcome: "completed" });
  expect(await expectKeptTogether(place)).toMatchObject([{ result: { kind: "value" } }]);
});

test("X3 a cancel that comes while apply runs ends the run after it: what was applied has its result", async () => {
  // The model thinks long enough for a request that had to wait for the row, and was put off once or twice.
  const { there, applying, start, place } = await aSlowScene(1, { thinksMs: 10_000 });
  const id = await start();
  await applying;
  const { receipt } = await there.runs.get(id).cancel();
  expect(await receipt(patience())).toMatchObject({ outcome: "cancelled" });
  expect(await expectKeptTogether(place)).toMatchObject([{ result: { kind: "value", value: "booked" } }]);
});

test("X1 an apply that outlives its lease is kept once: nobody takes the run while its row is held", async () => {
  const { here, start, place } = await aSlowScene(1.2, { leaseMs: 400 });
  const id = await start();
  expect(await here.runs.get(id).result(patience())).toMatchObject({ outcome: "completed" });
  expect(await expectKeptTogether(place)).toMatchObject([{ result: { kind: "value", value: "booked" } }]);
});

test("T1 two calls that lock each other's rows both complete", async () => {
  const place = await aPostgresPlace();
  await place.ask(`CREATE TABLE ${place.bookings}_seats AS SELECT n, 0 AS taken FROM generate_series(0, 1) AS n`);
  let first = 0;
  const both = aGate();
  const tries: string[] = [];
  const take = `UPDATE ${place.bookings}_seats SET taken = taken + 1 WHERE n = $1`;
  const book = bookOnPostgres(async (tx, _, { callId, runId }) => {
    tries.push(runId);
    const [from, to] = order(runId);
    await tx.query(take, [from]);
    first += 1;
    if (first === 2) both.open();
    await both.opened;
    await tx.query(take, [to]);
    await tx.query(insert(place.bookings), [callId, from]);
  });
  const orders = new Map<string, readonly [number, number]>();
  function order(run: string): readonly [number, number] {
    const known = orders.get(run) ?? (orders.size === 0 ? [0, 1] : [1, 0]);
    orders.set(run, known);
    return known;
  }
  const { runtime, clerk } = await aClerk(place, book);
  const runs = await Promise.all([1, 2].map(() => runtime.start(clerk, "Book.")));
  for (const run of runs) expect(await run.result(patience())).toMatchObject({ outcome: "completed" });
  expect(tries.length, "one of them was the victim of a deadlock").toBeGreaterThan(2);
  expect(await expectKeptTogether(place)).toHaveLength(2);
  expect(await place.ask(`SELECT taken FROM ${place.bookings}_seats`)).toEqual([{ taken: 2 }, { taken: 2 }]);
});
