/** Connections that are cut, backends that are killed, a server that is restarted: 0 lost, 0 duplicated, no run failed. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { insertCommits } from "../../src/stores/postgres/commit-rows.ts";
import { inSchema, statementName } from "../../src/stores/postgres/database.ts";
import { postgresStore } from "../../src/stores/postgres/postgres.ts";
import { createDraw } from "../../src/testing/conformance/store-commands.ts";
import { findBroken, workThrough } from "./clerks.ts";
import { createTestServer } from "./embedded.ts";
import { createProxy, type Verdict } from "./proxy.ts";
import { freshStore, query } from "./shared-server.ts";

/** Steps of all runs together; the figure is 2,000. */
const steps = Number(process.env.HOLDFAST_CHAOS_STEPS ?? 320);
const perRun = 8;
const runs = Math.ceil(steps / perRun);

test(`${steps} steps through a proxy that forwards one COMMIT in five and cuts before its answer`, {
  timeout: 600_000,
}, async () => {
  const { url, schema } = await freshStore();
  const draw = createDraw(Number(process.env.HOLDFAST_CHAOS_SEED ?? 1));
  const commits = ["COMMIT\0", statementName(inSchema(insertCommits(schema), schema))];
  let isArmed = false;
  const judge = (sent: Buffer): Verdict => {
    if (!isArmed) return "pass";
    if (commits.some((word) => sent.includes(word))) return draw(5) === 0 ? "cut-before-answer" : "pass";
    return draw(200) === 0 ? "cut-before-request" : "pass";
  };
  const proxy = await createProxy(url, judge);
  const arm = async (): Promise<void> => {
    isArmed = true;
  };
  await workThrough({ store: postgresStore({ url: proxy.url, schema }), runs, steps: perRun, meanwhile: arm });
  expect(proxy.cuts()).toBeGreaterThan(steps / 20);
  expect(await query(url, inSchema(findBroken, schema))).toEqual([]);
});

test(`${steps} steps while backends are terminated at random`, { timeout: 600_000 }, async () => {
  const { url, schema } = await freshStore();
  const draw = createDraw(2);
  const kill =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 ORDER BY random() LIMIT 1";
  let killed = 0;
  const named = `${url}?application_name=${schema}`;
  await workThrough({
    store: postgresStore({ url: named, schema }),
    runs,
    steps: perRun,
    meanwhile: async (isDone) => {
      while (!isDone()) {
        await delay(20 + draw(60)); // a connection must have the time to be made
        killed += (await query(url, kill, [schema])).length;
      }
    },
  });
  expect(killed).toBeGreaterThan(5);
  expect(await query(url, inSchema(findBroken, schema))).toEqual([]);
});

test("a server that is stopped and started again in the middle of the work", { timeout: 300_000 }, async () => {
  const server = await createTestServer();
  onTestFinished(() => server.remove());
  const schema = "restarted";
  let restarts = 0;
  await workThrough({
    store: postgresStore({ url: server.url, schema }),
    runs: 60,
    steps: perRun,
    meanwhile: async (isDone) => {
      while (!isDone() && restarts < 2) {
        await delay(250);
        await server.stop();
        await delay(200);
        await server.start();
        restarts += 1;
      }
    },
  });
  expect(restarts).toBeGreaterThan(0);
  expect(await query(server.url, inSchema(findBroken, schema))).toEqual([]);
});
