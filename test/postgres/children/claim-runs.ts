/** Claims until nothing is left; says each run with its epoch. */
import { setTimeout as delay } from "node:timers/promises";
import { scopeA } from "../../../src/testing/conformance/store-fixtures.ts";
import { name, ready } from "./opened.ts";

const store = await ready();
for (let empty = 0, n = 0; empty < 5; n += 1) {
  const claims = await store.claim({
    scope: scopeA,
    agents: ["ann"],
    limit: 7,
    leaseMs: 60_000,
    claimId: `${name}-${n}`,
  });
  for (const { run, epoch } of claims) process.stdout.write(`${run} ${epoch}\n`);
  empty = claims.length === 0 ? empty + 1 : 0; // what another process holds at this moment is passed over
  if (claims.length === 0) await delay(5);
}
await store.close();
process.exit(0);
