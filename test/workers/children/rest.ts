/**
 * A worker on a store where everything waits: node --expose-gc rest.ts <place>. When it has looked once and gone to sleep it
 * says what that took and what it holds.
 */
import { setTimeout as delay } from "node:timers/promises";
import { createWorker } from "../../../src/create-worker.ts";
import type { StoreDefinition } from "../../../src/ports/store.ts";
import { postgresWithProbe } from "../../../src/stores/postgres/postgres.ts";
import { sqliteWithProbe } from "../../../src/stores/sqlite/sqlite.ts";
import { type Intercept, interceptStore } from "../../../src/testing/intercept.ts";
import { createClerk } from "../clerk.ts";
import type { Place, RestNews } from "../orders.ts";

const { store, world } = JSON.parse(process.argv[2] ?? "") as Place;
let statements = 0;
let rows = 0;
const probe = {
  before: () => {
    statements += 1;
  },
  after: (_sql: string, count = 0) => {
    rows += count;
  },
};
const real: StoreDefinition = "path" in store ? sqliteWithProbe(store.path, probe) : postgresWithProbe(store, probe);

let looks = 0;
let hasLooked: () => void = () => undefined;
const looked = new Promise<void>((resolve) => {
  hasLooked = resolve;
});
const intercept: Intercept = async ({ method }, proceed) => {
  const answer = await proceed();
  if (method === "claim") looks += 1;
  if (method === "nextDue") hasLooked();
  return answer;
};

await createWorker({
  agents: [createClerk({ world })],
  store: { ...real, open: async (deps) => interceptStore(await real.open(deps), intercept) },
  scope: "a",
  pollMs: 60_000,
  logger: { warn: () => undefined, note: () => undefined },
});
await looked;
const readyMs = Math.round(process.uptime() * 1_000);
const atRest = { statements, rows, looks };
await delay(50);
for (let n = 0; n < 3; n += 1) {
  globalThis.gc?.();
  await delay(20);
}
const resources = process.getActiveResourcesInfo().sort();
process.send?.({ readyMs, ...atRest, resources, heapBytes: process.memoryUsage().heapUsed } satisfies RestNews);
process.once("disconnect", () => process.exit());
