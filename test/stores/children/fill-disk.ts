/** Fills a small disk, then frees it: node fill-disk.ts <directory>. Exits 0 when the store did as it promises. */
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isHoldfastError } from "../../../src/domain/errors.ts";
import { sqlite } from "../../../src/sqlite.ts";
import { birthOf, claimAll, headOf, said, write } from "../../../src/testing/conformance/store-fixtures.ts";

const [directory = ""] = process.argv.slice(2);
const deps = {
  clock: { now: () => Date.now(), monotonic: () => performance.now(), sleep: () => Promise.resolve() },
  logger: { warn: () => undefined, note: () => undefined },
};
writeFileSync(join(directory, "ballast"), Buffer.alloc(512 * 1024));
const store = await sqlite(join(directory, "runs.db")).open(deps);
await store.create(birthOf("r1"));
const [claim] = await claimAll(store);
assert.ok(claim);
let head = 1;
let failure: unknown;
while (failure === undefined) {
  try {
    head = await write(store, claim, { entries: [said("x".repeat(4_000))], after: head });
  } catch (cause) {
    failure = cause;
  }
}
assert.ok(isHoldfastError(failure, "store-full"), `store-full, not ${failure}`);
assert.equal(await headOf(store, claim), head, "what was acknowledged is there, what was refused is not");
rmSync(join(directory, "ballast"));
for (let n = 0; n < 20; n += 1) head = await write(store, claim, { entries: [said(`m${n}`)], after: head });
assert.equal(await headOf(store, claim), head, "writing goes on without a restart");
await store.close();
console.log(`full at entry ${head - 20}`);
