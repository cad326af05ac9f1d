/**
 * With durability "full" a group of writes that is acknowledged together costs one flush, and nothing is acknowledged
 * before it. Counted are transactions that write: under synchronous=FULL and a WAL, SQLite flushes once at the end of
 * each, before it returns. That it really calls the system, and that the disk obeys, is not seen from in here.
 */
import { expect, test } from "vitest";
import { cancelOf, keyOf, stepped, write } from "../../src/testing/conformance/store-fixtures.ts";
import { claimedRuns, type Watched, watched } from "../stores/watched-store.ts";

/** Ends of transactions that wrote something, in the order in which they were asked for. */
function flushes(statements: readonly string[]): number {
  let isOpen = false;
  let count = 0;
  for (const sql of statements) {
    if (sql.startsWith("BEGIN")) isOpen = true;
    else if (sql === "ROLLBACK") isOpen = false;
    else if (sql === "COMMIT" || (!isOpen && /^(INSERT|UPDATE|DELETE)/.test(sql))) {
      isOpen = false;
      count += 1;
    }
  }
  return count;
}

async function full(): Promise<Watched> {
  const all = await watched({ durability: "full" });
  expect(all.connection().get("PRAGMA synchronous")).toMatchObject({ synchronous: 2 });
  return all;
}

test("a group that is acknowledged together is flushed once, whatever its size", async () => {
  const { store, seen } = await full();
  const claims = [...(await claimedRuns(store, 200))];
  const counted: number[] = [];
  for (const size of [1, 2, 20, 177]) {
    const group = claims.splice(0, size);
    seen();
    await Promise.all(group.map((claim) => write(store, claim, { entries: [stepped(1)], after: 1 })));
    counted.push(flushes(seen()));
  }
  expect(counted).toEqual([1, 1, 1, 1]);
});

test("a post, a renewal and a birth are flushed once each; reads and a claim that finds nothing are not", async () => {
  const { store, seen } = await full();
  const [claim] = await claimedRuns(store, 1);
  const cost = async (act: Promise<unknown>): Promise<number> => {
    seen();
    await act;
    return flushes(seen());
  };
  const { scope, epoch, run } = claim!;
  expect(await cost(store.renew({ scope, run, epoch, leaseMs: 1_000 }))).toBe(1);
  expect(await cost(store.post(cancelOf("r0")))).toBe(1);
  expect(await cost(store.run(keyOf("r0")))).toBe(0);
  expect(await cost(store.readRun({ ...keyOf("r0"), after: 0, limit: 10 }))).toBe(0);
  expect(await cost(store.claim({ scope, agents: ["nobody"], leaseMs: 1_000, limit: 1, claimId: "c" }))).toBe(0);
});
