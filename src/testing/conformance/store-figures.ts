/** Checks of what a store tells about itself: `figures`. */
import assert from "node:assert/strict";
import type { StoreFigures } from "../../ports/store-figures.ts";
import {
  birthOf,
  cancelOf,
  checked,
  claimAll,
  claimOne,
  keyOf,
  leaseMs,
  type StoreCheck,
  scopeA,
  scopeB,
  started,
  stepped,
  waiting,
  write,
} from "./store-fixtures.ts";

const ann = { scope: scopeA, agents: ["ann"] };

function queue({ due, dueMs }: StoreFigures): readonly [number, number] {
  return [due, dueMs];
}

export const figures: Record<string, StoreCheck> = {
  "F1 due runs are those that a claim would find, since the first of them became due": checked(
    async ({ store, clock }) => {
      const seen = async (): Promise<readonly [number, number]> => queue(await store.figures(ann));
      assert.deepEqual(await seen(), [0, 0]);
      await store.create(birthOf("r1", { thread: "t" }));
      await store.create(birthOf("queued", { thread: "t" }));
      clock.advance(5);
      await store.create(birthOf("r2", { priority: 2 }));
      clock.advance(5);
      assert.deepEqual(await seen(), [2, 10]);
      assert.equal((await claimOne(store, { limit: 1 })).run, "r2");
      assert.deepEqual(await seen(), [1, 10]);
      const claim = await claimOne(store);
      assert.deepEqual(await seen(), [0, 0]);
      await write(store, claim, { entries: [started(0), waiting], after: 1, wake: clock.now() + 100 });
      assert.deepEqual(await seen(), [0, 0]);
      clock.advance(107);
      assert.deepEqual(await seen(), [1, 7]);
      clock.advance(leaseMs - 107 + 3);
      assert.deepEqual(await seen(), [2, leaseMs - 107 + 3 + 7]); // the lease of r2 has run out, 3 ms ago
    },
  ),

  "F1 a run that was given back in the middle of its work is due since then": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    clock.advance(50);
    await write(store, claim, { entries: [started(0), stepped(1)], after: 1 });
    await store.release({ ...keyOf("r1"), epoch: claim.epoch, expectedSeq: 3, wake: clock.now() });
    clock.advance(8);
    assert.deepEqual(queue(await store.figures(ann)), [1, 8]);
  }),

  "S11 figures are of the scope and of the agents that are asked for, of all agents unless said": checked(
    async ({ store }) => {
      await store.create(birthOf("r1"));
      await store.create(birthOf("r2", { agent: "bob" }));
      await store.create(birthOf("r3", { agent: "cid", priority: -2 }));
      await store.create(birthOf("r4", { scope: scopeB }));
      const due = async (agents?: readonly string[]): Promise<number> =>
        (await store.figures({ scope: scopeA, ...(agents ? { agents } : {}) })).due;
      assert.equal(await due(), 3);
      assert.equal(await due(["bob", "cid", "bob"]), 2);
      assert.equal(await due(["nobody"]), 0);
      assert.equal(await due([]), 0);
    },
  ),

  "F2 commits are counted when they are committed, with the groups that they were written in": checked(
    async ({ store, reopen }) => {
      const seen = async (): Promise<readonly number[]> => {
        const { commits, groups, largestGroup } = await store.figures(ann);
        return [commits, groups, largestGroup];
      };
      await Promise.all(Array.from({ length: 6 }, (_, n) => store.create(birthOf(`r${n}`))));
      const claims = await claimAll(store);
      assert.deepEqual(await seen(), [0, 0, 0]);
      await write(store, claims[0]!, { entries: [started(0)], after: 1 });
      assert.deepEqual(await seen(), [1, 1, 1]);
      const late = { ...claims[0]!, entries: [stepped(1)], expectedSeq: 1, position: 0 };
      assert.equal((await store.commit(late)).kind, "behind");
      assert.equal((await store.commit({ ...late, epoch: 9 })).kind, "fenced");
      await store.post(cancelOf("r0"));
      assert.deepEqual(await seen(), [1, 1, 1]);
      const rest = claims.slice(1);
      await Promise.all(rest.map((claim) => write(store, claim, { entries: [started(0)], after: 1 })));
      const [commits, groups = 0, largest = 0] = await seen();
      assert.equal(commits, 6);
      assert.ok(groups >= 2 && groups <= 6 && largest >= 1 && largest <= 5);
      assert.ok(1 + (groups - 1) * largest >= 6, "no group is larger than the largest");
      assert.equal((await (await reopen()).figures(ann)).commits, 0);
    },
  ),

  "pulse is another after everything that is committed, and the same while nothing is": checked(async ({ store }) => {
    const seen = [await store.pulse()];
    await store.create(birthOf("r1"));
    seen.push(await store.pulse());
    const claim = await claimOne(store);
    await write(store, claim, { entries: [started(0)], after: 1 });
    seen.push(await store.pulse());
    await store.post(cancelOf("r1"));
    seen.push(await store.pulse());
    assert.equal(new Set(seen).size, 4);
    assert.equal(await store.pulse(), seen.at(-1));
  }),

  "F2 nothing is hidden from readers of many runs while nobody writes": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    await write(store, await claimOne(store), { entries: [started(0)], after: 1 });
    const { hidden, hiddenMs } = await store.figures(ann);
    assert.deepEqual([hidden, hiddenMs], [0, 0]);
  }),
};
