/** Writes to eight runs at once until it is killed: node write-runs.ts <path>. Says "run seq" after each acknowledgement. */
import { writeSync } from "node:fs";
import { sqlite } from "../../../src/sqlite.ts";
import { birthOf, claimAll, said, stepped, write } from "../../../src/testing/conformance/store-fixtures.ts";

const [path = "", round = ""] = process.argv.slice(2);
const deps = {
  clock: { now: () => Date.now(), monotonic: () => performance.now(), sleep: () => Promise.resolve() },
  logger: { warn: () => undefined, note: () => undefined },
};
const store = await sqlite(path).open(deps);
await Promise.all(Array.from({ length: 8 }, (_, n) => store.create(birthOf(`${round}-${n}`))));
const claims = await claimAll(store, { limit: 8 });
writeSync(1, "ready\n");
await Promise.all(
  claims.map(async (claim) => {
    for (let head = 1; ; ) {
      const entries = [stepped(head), said(`m${head}`), stepped(head)].slice(0, 1 + (head % 3));
      head = await write(store, claim, { entries, after: head });
      writeSync(1, `${claim.run} ${head}\n`);
    }
  }),
);
