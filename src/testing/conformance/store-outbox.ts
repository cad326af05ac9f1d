/** Checks of the outbox (O1–O5). */
import assert from "node:assert/strict";
import type { Scope } from "../../domain/ids.ts";
import type { DeliveryEnd, TakenDelivery } from "../../ports/outbox-store.ts";
import type { Claim, Store } from "../../ports/store.ts";
import {
  birthOf,
  checked,
  claimAll,
  claimOne,
  deliveryTo,
  ended,
  keyOf,
  type StoreCheck,
  scopeA,
  scopeB,
  started,
  stepped,
  throwsCode,
  write,
} from "./store-fixtures.ts";

const leaseMs = 500;

async function startedRun(store: Store, run: string): Promise<Claim> {
  await store.create(birthOf(run));
  const claim = await claimOne(store);
  await write(store, claim, { entries: [started(0)], after: 1 });
  return claim;
}

function take(
  store: Store,
  more: { readonly limit?: number; readonly sink?: string } = {},
): Promise<readonly TakenDelivery[]> {
  return store.takeDeliveries({ scope: scopeA, leaseMs, limit: 10, ...more });
}

function inputs(taken: readonly TakenDelivery[]): readonly string[] {
  return taken.map(({ delivery }) =>
    delivery.to === "run" && delivery.fact.type === "input-received" ? delivery.fact.input : "sink",
  );
}

function endOf(taken: TakenDelivery | undefined, how: "delivered" | "put-off" | "dead"): DeliveryEnd {
  assert.ok(taken, "something was taken");
  const { scope, run, seq, index, attempt } = taken;
  const ending = how === "put-off" ? { how, delayMs: 300, error: "not now" } : { how, error: "no such run" };
  return { scope, run, seq, index, attempt, ...ending } as DeliveryEnd;
}

export const outbox: Record<string, StoreCheck> = {
  "O1 deliveries come with their commit, under its seq and their place": checked(async ({ store, reopen }) => {
    const claim = await startedRun(store, "r1");
    assert.equal(await store.nextDelivery({ scope: scopeA }), undefined);
    const deliveries = [deliveryTo("r2", "i1"), deliveryTo("r3", "i2", { due: 1_200 })];
    await write(store, claim, { entries: [stepped(1), stepped(2)], after: 2, deliveries });
    const again = await reopen();
    assert.deepEqual(await again.deliveries(keyOf("r1")), [
      { ...keyOf("r1"), seq: 3, index: 0, delivery: deliveries[0], due: 1_000, attempts: 0 },
      { ...keyOf("r1"), seq: 3, index: 1, delivery: deliveries[1], due: 1_200, attempts: 0 },
    ]);
    assert.deepEqual(await again.deliveries(keyOf("r2")), []);
    assert.equal(await again.nextDelivery({ scope: scopeA }), 1_000);
    assert.equal(await again.nextDelivery({ scope: scopeB }), undefined);
  }),

  "O1 a commit that is refused brings none": checked(async ({ store }) => {
    const claim = await startedRun(store, "r1");
    const commit = { ...claim, entries: [stepped(1)], position: 0, deliveries: [deliveryTo("r2", "i1")] };
    assert.equal((await store.commit({ ...commit, epoch: 9, expectedSeq: 2 })).kind, "fenced");
    assert.equal((await store.commit({ ...commit, expectedSeq: 1 })).kind, "behind");
    await throwsCode(store.commit({ ...commit, expectedSeq: 9 }), "journal-regressed");
    await throwsCode(store.commit({ ...commit, expectedSeq: 2, entries: [] }), "illegal-transition");
    assert.deepEqual(await store.deliveries(keyOf("r1")), []);
  }),

  "O2 the oldest due ones are taken first, no more than asked for, none twice while the lease lasts": checked(
    async ({ store, clock }) => {
      const claim = await startedRun(store, "r1");
      const due = (input: string, at: number): ReturnType<typeof deliveryTo> => deliveryTo("x", input, { due: at });
      const deliveries = [due("later", 1_300), due("third", 900), due("first", 700), due("second", 800)];
      await write(store, claim, { entries: [stepped(1)], after: 2, deliveries });
      const [one, two] = await Promise.all([take(store, { limit: 2 }), take(store)]);
      assert.deepEqual([inputs(one), inputs(two)], [["first", "second"], ["third"]]);
      assert.deepEqual(
        one.map(({ seq, index, attempt }) => [seq, index, attempt]),
        [
          [3, 2, 1],
          [3, 3, 1],
        ],
      );
      assert.deepEqual(await take(store), []);
      assert.deepEqual(await store.takeDeliveries({ scope: scopeB, leaseMs, limit: 9 }), []);
      clock.advance(leaseMs);
      assert.deepEqual(inputs(await take(store, { limit: 1 })), ["later"]);
      const again = await take(store);
      assert.deepEqual(
        again.map(({ attempt }) => attempt),
        [2, 2, 2],
      );
    },
  ),

  "O2 deliveryScopes names the scopes in which something of a lane is left, page by page": checked(
    async ({ store }) => {
      assert.deepEqual(await store.deliveryScopes({ limit: 9 }), []);
      const names = ["d", "b", "a", "c"] as Scope[];
      for (const scope of names) {
        await store.create(birthOf("r1", { scope }));
        const [claim] = await claimAll(store, { scope });
        assert.ok(claim);
        const deliveries = [deliveryTo("x", "i1", { due: 9_999 }), { to: "sink", sink: scope, body: null } as const];
        await write(store, claim, { entries: [started(0)], after: 1, deliveries });
      }
      assert.deepEqual(await store.deliveryScopes({ limit: 9 }), ["a", "b", "c", "d"]);
      assert.deepEqual(await store.deliveryScopes({ limit: 2 }), ["a", "b"]);
      assert.deepEqual(await store.deliveryScopes({ limit: 2, after: "b" as Scope }), ["c", "d"]);
      assert.deepEqual(await store.deliveryScopes({ limit: 9, sink: "c" }), ["c"]);
      const [taken] = await store.takeDeliveries({ scope: "c" as Scope, sink: "c", leaseMs, limit: 1 });
      assert.deepEqual(await store.deliveryScopes({ limit: 9, sink: "c" }), ["c"]);
      await store.endDelivery(endOf(taken, "delivered"));
      assert.deepEqual(await store.deliveryScopes({ limit: 9, sink: "c" }), []);
    },
  ),

  "O2 runs and each sink have lanes of their own": checked(async ({ store }) => {
    const claim = await startedRun(store, "r1");
    const sinks = ["s", "t"].map((sink) => ({ to: "sink", sink, body: { sink }, due: 5 }) as const);
    await write(store, claim, { entries: [stepped(1)], after: 2, deliveries: [...sinks, deliveryTo("x", "i1")] });
    assert.deepEqual(inputs(await take(store)), ["i1"]);
    assert.equal(await store.nextDelivery({ scope: scopeA, sink: "s" }), 5);
    assert.deepEqual(
      (await take(store, { sink: "s" })).map(({ delivery }) => delivery),
      [sinks[0]],
    );
    assert.deepEqual(await take(store, { sink: "none" }), []);
  }),

  "O3 what is delivered leaves, whoever says so; a stale attempt neither puts off nor gives up": checked(
    async ({ store, clock }) => {
      const claim = await startedRun(store, "r1");
      const deliveries = [deliveryTo("x", "i1"), deliveryTo("x", "i2")];
      await write(store, claim, { entries: [stepped(1)], after: 2, deliveries });
      const [first, second] = await take(store);
      clock.advance(leaseMs);
      await take(store);
      assert.equal(await store.endDelivery(endOf(first, "put-off")), false);
      assert.equal(await store.endDelivery(endOf(first, "dead")), false);
      assert.deepEqual(await store.evidence(keyOf("r1")), []);
      assert.equal(await store.endDelivery(endOf(first, "delivered")), true);
      assert.equal(await store.endDelivery(endOf(first, "delivered")), false);
      const put = { ...endOf(second, "put-off"), attempt: 2 };
      assert.equal(await store.endDelivery(put), true);
      const [left, ...others] = await store.deliveries(keyOf("r1"));
      assert.deepEqual([left?.due, left?.attempts, left?.error, others], [1_000 + leaseMs + 300, 2, "not now", []]);
      assert.equal(await store.endDelivery({ ...put, scope: scopeB }), false);
    },
  ),

  "O4 what is given up becomes evidence of its source": checked(async ({ store, clock }) => {
    const claim = await startedRun(store, "r1");
    const delivery = deliveryTo("x", "i1");
    await write(store, claim, { entries: [stepped(1)], after: 2, deliveries: [delivery] });
    const [taken] = await take(store);
    clock.advance(7);
    assert.equal(await store.endDelivery(endOf(taken, "dead")), true);
    assert.deepEqual(await store.deliveries(keyOf("r1")), []);
    const body = { seq: 3, index: 0, delivery, attempts: 1, error: "no such run" };
    assert.deepEqual(await store.evidence(keyOf("r1")), [{ kind: "dead-delivery", at: 1_007, body }]);
    assert.equal(await store.endDelivery(endOf(taken, "dead")), false);
  }),

  "O6 what was given up for a sink may be put back once, under its key, and evidence says by whom": checked(
    async ({ store, clock, reopen }) => {
      const claim = await startedRun(store, "r1");
      const toSinks = ["s", "t"].map((sink) => ({ to: "sink", sink, body: { sink } }) as const);
      await write(store, claim, { entries: [stepped(1)], after: 2, deliveries: [...toSinks, deliveryTo("x", "i1")] });
      for (const lane of [{ sink: "s" }, { sink: "t" }, {}]) {
        await store.endDelivery(endOf((await take(store, lane))[0], "dead"));
      }
      clock.advance(7);
      const request = { ...keyOf("r1"), by: "ana" };
      assert.equal(await store.reviveDeliveries({ ...request, scope: scopeB }), 0);
      assert.equal(await store.reviveDeliveries({ ...request, sink: "none" }), 0);
      const both = await Promise.all([1, 2].map(() => store.reviveDeliveries({ ...request, sink: "s" })));
      assert.deepEqual(both.sort(), [0, 1]);
      const again = await reopen();
      assert.deepEqual(await again.deliveries(keyOf("r1")), [
        { ...keyOf("r1"), seq: 3, index: 0, delivery: toSinks[0], due: 1_007, attempts: 0 },
      ]);
      assert.deepEqual((await again.evidence(keyOf("r1"))).at(-1), {
        kind: "delivery-revived",
        at: 1_007,
        body: { seq: 3, index: 0, sink: "s", by: "ana" },
      });
      const [taken] = await take(again, { sink: "s" });
      await again.endDelivery(endOf(taken, "delivered"));
      assert.equal(await again.reviveDeliveries({ ...request, sink: "s" }), 0);
      // The rest; what was for a run is not among it.
      assert.equal(await again.reviveDeliveries(request), 1);
      await again.endDelivery(endOf((await take(again, { sink: "t" }))[0], "dead"));
      assert.equal(await again.reviveDeliveries(request), 1); // it was given up a second time
    },
  ),

  "O5 an erased run takes its deliveries along, also those that someone carries": checked(async ({ store }) => {
    const claim = await startedRun(store, "r1");
    const deliveries = [deliveryTo("x", "i1"), deliveryTo("x", "i2")];
    await write(store, claim, { entries: [ended], after: 2, deliveries });
    const [taken] = await take(store, { limit: 1 });
    assert.equal((await store.eraseRun(keyOf("r1"))).kind, "deleted");
    assert.equal(await store.nextDelivery({ scope: scopeA }), undefined);
    assert.equal(await store.endDelivery(endOf(taken, "dead")), false);
    assert.equal(await store.endDelivery(endOf(taken, "delivered")), false);
  }),
};
