/** Claims until nothing is left: node claim-runs.ts <path>. Writes one line per claim: run, epoch. */
import type { Scope } from "../../../src/domain/ids.ts";
import { sqlite } from "../../../src/sqlite.ts";

const [path = "", name = ""] = process.argv.slice(2);
const deps = {
  clock: { now: () => Date.now(), monotonic: () => performance.now(), sleep: () => Promise.resolve() },
  logger: { warn: () => undefined, note: () => undefined },
};
const store = await sqlite(path, { durability: "normal" }).open(deps);
const request = { scope: "a" as Scope, agents: ["ann"], leaseMs: 60_000, limit: 3 };
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));
for (let n = 0; ; n += 1) {
  const claims = await store.claim({ ...request, claimId: `${name}-${n}` });
  if (claims.length === 0) break;
  for (const claim of claims) process.stdout.write(`${claim.run} ${claim.epoch}\n`);
}
await store.close();
process.exit();
