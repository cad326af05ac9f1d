/**
 * PostgreSQL goes away under two worker processes, for longer than their leases, and comes back. HOLDFAST_AWAY_MS says for
 * how long; three leases unless said.
 *
 * A1 Nobody dies of it: the processes wait, ask with measure, and go on by themselves.
 * A2 Every run ends, and no effect is made twice: what was in flight is settled, or asked for by whoever goes on.
 */
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestServer, type TestServer } from "../postgres/embedded.ts";
import { createClerk, type PlannedCall, planOf } from "./clerk.ts";
import { freshStage, openDesk, startWorker, until, worldOf } from "./crew.ts";

const leaseMs = 1_500;
const awayMs = Number(process.env.HOLDFAST_AWAY_MS ?? leaseMs * 3);
const runs = 40;

let server: TestServer;

beforeAll(async () => {
  server = await createTestServer();
});
afterAll(() => server.remove());

test("A1, A2 two workers outlive a database that goes away, and every run ends once", {
  timeout: 240_000,
}, async (context) => {
  const stage = { ...(await freshStage("sqlite", context)), store: { url: server.url, schema: "away" } };
  const desk = await openDesk(stage);
  const clerk = createClerk(stage);
  const settings = { leaseMs, timeoutMs: 2_000, closeGraceMs: 10_000 };
  const workers = [startWorker(stage, settings), startWorker(stage, settings)];
  let hasEnded = false;
  const ended = (): void => {
    hasEnded = true;
  };
  for (const worker of workers) worker.exited.then(ended, ended);
  await Promise.all(workers.map((worker) => worker.ready()));
  const step = (n: number): readonly PlannedCall[] => [{ tool: n % 2 === 0 ? "act" : "book", ms: 300 }];
  const plan = planOf(...[0, 1, 2, 3].map(step));
  const started = await Promise.all(Array.from({ length: runs }, () => desk.start(clerk, plan)));
  await until(() => worldOf(stage).length >= runs);
  await server.stop();
  await delay(awayMs);
  await server.start();
  const results = await Promise.all(started.map((run) => run.result()));
  expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => "completed"));
  expect(hasEnded).toBe(false); // A1
  const begun = worldOf(stage).filter(({ kind }) => kind === "begun");
  const booked = begun.filter(({ tool }) => tool === "book").map(({ key }) => key);
  expect(booked).toHaveLength(runs * 2); // A2
  expect(new Set(booked).size).toBe(runs * 2);
  expect(new Set(begun.map(({ key }) => key)).size).toBe(runs * 4); // the same key, where an idempotent one was repeated
  for (const worker of workers) worker.signal("SIGTERM");
  expect(await Promise.all(workers.map((worker) => worker.exited))).toEqual([0, 0]);
});
