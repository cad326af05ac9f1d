/** Checks of pruning (H5). */
import assert from "node:assert/strict";
import type { RunId } from "../../domain/ids.ts";
import type { Store } from "../../ports/store.ts";
import {
  type Bench,
  birthOf,
  checked,
  claimOne,
  deliveryTo,
  ended,
  historyOf,
  keyOf,
  play,
  type StoreCheck,
  scopeA,
  scopeB,
  started,
  threadKey,
  threadOf,
  waiting,
  write,
} from "./store-fixtures.ts";

/** Runs that end ten milliseconds apart, the first at 1,010. */
async function endRuns({ store, clock }: Bench, names: readonly string[]): Promise<void> {
  for (const run of names) {
    clock.advance(10);
    await store.create(birthOf(run));
    await play(store, 1);
  }
}

function prune(store: Store, before: number, limit: number = 10): Promise<readonly RunId[]> {
  return store.prune({ scope: scopeA, ended: { before }, limit });
}

async function runsIn(store: Store): Promise<readonly string[]> {
  const rows = await store.runs({ scope: scopeA, order: "oldest", limit: 99 });
  return rows.map(({ run }) => run);
}

export const pruning: Record<string, StoreCheck> = {
  "H5 the runs that ended first go first, no more than asked for, and none that ended later": checked(async (bench) => {
    const { store, clock } = bench;
    await store.create(birthOf("late"));
    const late = await claimOne(store);
    await endRuns(bench, ["c", "a", "b"]);
    clock.advance(10);
    await write(store, late, { entries: [started(0), ended], after: 1 });
    assert.deepEqual(await prune(store, 1_010), []);
    assert.deepEqual(await prune(store, 1_030, 1), ["c"]);
    assert.deepEqual(await prune(store, 1_030), ["a"]);
    assert.deepEqual(await prune(store, 1_030), []);
    assert.deepEqual(await prune(store, 9_999, 0), []);
    assert.deepEqual(await runsIn(store), ["late", "b"]);
    assert.deepEqual(await store.prune({ scope: scopeB, ended: { before: 9_999 }, limit: 9 }), []);
    assert.deepEqual(await prune(store, 9_999, 1), ["b"]);
    assert.deepEqual(await runsIn(await bench.reopen()), ["late"]);
  }),

  "H5 how long ago is counted by the store, and exactly so long is long enough": checked(async (bench) => {
    const { store, clock } = bench;
    await endRuns(bench, ["r1"]);
    clock.advance(99);
    assert.deepEqual(await store.prune({ scope: scopeA, ended: { agoMs: 100 }, limit: 9 }), []);
    clock.advance(1);
    assert.deepEqual(await store.prune({ scope: scopeA, ended: { agoMs: 100 }, limit: 9 }), ["r1"]);
  }),

  "H5 a run that waits, runs, is queued or was only created is never pruned": checked(async (bench) => {
    const { store, clock } = bench;
    await store.create(birthOf("waits"));
    await write(store, await claimOne(store), { entries: [started(0), waiting], after: 1 });
    await store.create(birthOf("runs", { thread: "t" }));
    await write(store, await claimOne(store), { entries: [started(0)], after: 1 });
    await store.create(birthOf("queued", { thread: "t" }));
    await store.create(birthOf("created"));
    clock.advance(1_000_000);
    assert.deepEqual(await prune(store, clock.now() + 1), []);
    assert.deepEqual(await runsIn(store), ["waits", "runs", "queued", "created"]);
  }),

  "H5 a run whose deliveries are still under way stays until the last of them has arrived": checked(async (bench) => {
    const { store } = bench;
    await store.create(birthOf("r1"));
    const deliveries = [deliveryTo("x", "i1")];
    await write(store, await claimOne(store), { entries: [started(0), ended], after: 1, deliveries });
    assert.deepEqual(await prune(store, 9_999), []);
    const [taken] = await store.takeDeliveries({ scope: scopeA, leaseMs: 10, limit: 1 });
    assert.deepEqual(await prune(store, 9_999), []);
    assert.ok(taken);
    await store.endDelivery({ ...taken, how: "delivered" });
    assert.deepEqual(await prune(store, 9_999), ["r1"]);
  }),

  "H5 what is pruned is erased whole: cursors before it are told, its keys are free, its messages leave the thread":
    checked(async (bench) => {
      const { store } = bench;
      await store.createThread({ ...threadKey("thread-r1"), history: historyOf("old", threadKey("thread-r1")) });
      await endRuns(bench, ["r1"]);
      const head = await store.head();
      assert.deepEqual(await prune(store, 9_999), ["old", "r1"]);
      assert.equal(await store.erasedUpTo(scopeA), head);
      assert.ok((await store.head()) > head);
      assert.deepEqual(await store.readRun({ ...keyOf("r1"), after: 0, limit: 9 }), []);
      assert.equal((await threadOf(store, "thread-r1")).messages, 0);
      assert.deepEqual(await store.create(birthOf("r1")), { kind: "created", queued: false });
    }),

  "H5 several that prune at once erase each run once": checked(async (bench) => {
    const { store } = bench;
    const names = Array.from({ length: 9 }, (_, n) => `r${n}`);
    await endRuns(bench, names);
    const other = await bench.reopen();
    const erased = await Promise.all([store, other, store].map((each) => prune(each, 9_999, 3)));
    for (let more = await prune(store, 9_999); more.length > 0; more = await prune(store, 9_999)) erased.push(more);
    assert.deepEqual(erased.flat().sort(), names);
  }),
};
