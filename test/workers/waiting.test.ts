/**
 * A restart with very many waiting runs, half of which also wait for a time that has not come.
 *
 * W1 Being ready costs the same however many runs wait: the same statements, no more rows.
 * W2 No timer, socket or other resource for a waiting run.
 * W3 At most 2 KiB of memory for each.
 *
 * How long it takes is printed, not asserted. HOLDFAST_WAITING_RUNS says how many wait; 10,000 unless said, 2,000 on Postgres.
 */
import { join } from "node:path";
import { expect, type TestContext, test } from "vitest";
import { startChild } from "../../scripts/processes/child.ts";
import type { Store } from "../../src/ports/store.ts";
import {
  birthOf,
  opened,
  scopeA,
  started,
  ticketOf,
  waiting,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { freshStage, reading, type StoreKind } from "./crew.ts";
import type { Place, RestNews } from "./orders.ts";

const batch = 500;
const few = 10;
const tomorrow = Date.now() + 24 * 60 * 60_000;

async function fill(store: Store, from: number): Promise<void> {
  const names = Array.from({ length: batch }, (_, n) => `run-${from + n}`);
  await Promise.all(names.map((name) => store.create(birthOf(name, { agent: "clerk" }))));
  const request = { scope: scopeA, agents: ["clerk"], leaseMs: 600_000, limit: batch, claimId: `fill-${from}` };
  const claims = await store.claim(request);
  expect(claims).toHaveLength(batch);
  await Promise.all(
    claims.map((claim, n) => {
      const entries = [started(0), opened(ticketOf(claim.run, 1, { agent: "clerk" })), waiting];
      return write(store, claim, { entries, after: 1, ...(n % 2 === 0 ? { wake: tomorrow + n } : {}) });
    }),
  );
}

/** Starts a worker process on what is there and asks it what it holds. */
async function restart({ folder, world, store }: Place): Promise<RestNews> {
  const child = startChild<RestNews>({
    script: join(import.meta.dirname, "children/rest.ts"),
    args: [JSON.stringify({ folder, world, store })],
    nodeFlags: ["--expose-gc"],
  });
  const news = await child.next();
  await child.kill();
  return news;
}

async function compare(context: TestContext, kind: StoreKind, count: number): Promise<void> {
  const stage = await freshStage(kind, context);
  await restart(stage); // makes the schema, and warms what can be warmed
  const without = await restart(stage);
  await reading(stage, async (store) => {
    for (let from = 0; from < count; from += batch) await fill(store, from);
  });
  const withThem = await restart(stage);
  const bytes = Math.round((withThem.heapBytes - without.heapBytes) / count);
  console.log(
    `${kind}: ready ${without.readyMs} ms after its start with no run, ${withThem.readyMs} ms with ${count} waiting runs; ` +
      `${withThem.statements} statements, ${withThem.rows} rows; ${bytes} bytes of heap for each`,
  );
  expect(withThem.looks).toBeGreaterThan(0);
  // What a worker does beside its claims (it announces itself, looks for deliveries) may fall before or after the look.
  expect(withThem.statements - without.statements).toBeLessThan(few); // W1
  expect(withThem.rows - without.rows).toBeLessThan(few);
  expect(withThem.resources.length - without.resources.length).toBeLessThan(few); // W2
  expect(bytes).toBeLessThan(2 * 1024); // W3
}

const counts = { sqlite: 10_000, postgres: 2_000 };

for (const kind of ["sqlite", "postgres"] as const) {
  const count = Number(process.env.HOLDFAST_WAITING_RUNS ?? counts[kind]);
  test(`W1–W3 a restart on ${kind} with ${count} waiting runs`, { timeout: 300_000 }, (context) =>
    compare(context, kind, count),
  );
}
