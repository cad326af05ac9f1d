/** Checks of what is in hand: renewals, lost leases, handing over, draining, clocks that jump, runs that nothing can read. */
import assert from "node:assert/strict";
import { suspectAfter } from "../../ports/store.ts";
import type { Intercept } from "../intercept.ts";
import { type DispatcherCheck, dispatching, pollMs } from "./dispatcher-bench.ts";
import { birthOf, claimAll, keyOf, leaseMs } from "./store-fixtures.ts";

const hour = 3_600_000;

export const leaseChecks: Record<string, DispatcherCheck> = {
  "P2 what is in hand is renewed for as long as it takes": dispatching(async ({ worker, born, pass, quiet }) => {
    await born(birthOf("r1"));
    const first = worker();
    await quiet();
    const second = worker();
    await pass(20 * leaseMs);
    assert.deepEqual([first.inHand(), second.names()], [["r1"], []]);
    assert.equal(first.claims[0]?.held.lost.aborted, false);
  }),

  "P2 a lease whose renewal hangs is given up before its time is over": dispatching(async (bench) => {
    await expectGivenUp(bench, (call, proceed) => (call.method === "renew" ? never() : proceed()));
  }),

  "P2 a lease whose renewal fails is given up before its time is over": dispatching(async (bench) => {
    const fails: Intercept = (call, proceed) =>
      call.method === "renew" ? Promise.reject(new Error("away")) : proceed();
    await expectGivenUp(bench, fails);
  }),

  "P2 a lease that another has taken is lost at the next renewal": dispatching(
    async ({ worker, born, pass, quiet }) => {
      await born(birthOf("r1"));
      const each = worker({
        intercept: (call, proceed) => (call.method === "renew" ? fenced() : proceed()),
      });
      await quiet();
      await pass(leaseMs / 3 + 1);
      assert.equal(each.claims[0]?.held.lost.aborted, true);
    },
  ),

  "P2 a lost run that does not come out of hand, and its hanging renewal, keep nobody from being claimed": dispatching(
    async ({ worker, born, pass, quiet }) => {
      await born(birthOf("r1"));
      const each = worker({
        isDeaf: true,
        crashLimit: 100, // it is claimed again and again, and nothing comes of it
        intercept: (call, proceed) => (call.method === "renew" ? never() : proceed()),
      });
      await quiet();
      await pass(2 * leaseMs);
      assert.equal(each.claims[0]?.held.lost.aborted, true);
      await born(birthOf("r2"));
      await pass(pollMs);
      assert.ok(each.names().includes("r2"));
    },
  ),

  "a run whose worker is gone is claimed by another when its lease has run out, with one more crash": dispatching(
    async ({ worker, born, store, pass, quiet }) => {
      await born(birthOf("r1"));
      await store.claim({ scope: keyOf("r1").scope, agents: ["ann"], leaseMs, limit: 1, claimId: "dead" });
      const each = worker();
      await pass(leaseMs - 1);
      assert.deepEqual(each.names(), []);
      await pass(1);
      await quiet();
      assert.deepEqual([each.claims[0]?.held.claim.epoch, each.claims[0]?.held.claim.crashes], [2, 2]);
    },
  ),

  "P5 a worker that closes hands its runs over at once": dispatching(async ({ worker, born, quiet }) => {
    await born(birthOf("r1"), birthOf("r2"));
    const first = worker();
    await quiet();
    const second = worker();
    await first.dispatcher.close();
    await quiet();
    assert.deepEqual(second.inHand().toSorted(), ["r1", "r2"]);
    assert.equal(second.claims[0]?.held.claim.crashes, 1);
  }),

  "P5 a worker that closes claims nothing more, and lets go of what does not come to rest": dispatching(
    async ({ worker, born, hint, pass, quiet }) => {
      await born(birthOf("r1"));
      const each = worker({ intercept: (call, proceed) => (call.method === "release" ? never() : proceed()) });
      await quiet();
      const closing = each.dispatcher.close();
      await born(birthOf("r2"));
      await hint("r2");
      await pass(99);
      assert.equal(each.claims[0]?.held.lost.aborted, false);
      await pass(1);
      await closing;
      assert.deepEqual(each.names(), ["r1"]);
      assert.equal(each.claims[0]?.held.lost.aborted, true);
    },
  ),

  "P4 a wall clock that jumps an hour ahead takes no run from its worker": dispatching(
    async ({ worker, born, pass, quiet, jump }) => {
      await born(birthOf("r1"));
      const each = worker();
      await quiet();
      jump(hour);
      await born(birthOf("r2"));
      await pass(pollMs);
      assert.deepEqual(each.names(), ["r1", "r2"]);
      assert.equal(each.claims[0]?.held.lost.aborted, false);
    },
  ),

  "a wall clock that jumps an hour back takes no run from its worker, and new runs are found": dispatching(
    async ({ worker, born, pass, quiet, jump }) => {
      await born(birthOf("r1"));
      const each = worker();
      await quiet();
      jump(-hour);
      await born(birthOf("r2"));
      await pass(2 * pollMs);
      assert.deepEqual(each.names(), ["r1", "r2"]);
      assert.equal(each.claims[0]?.held.lost.aborted, false);
    },
  ),

  "P9 a wall clock that jumps an hour ahead takes no run to another worker, and new ones wait for a lease at most":
    dispatching(async ({ worker, born, pass, quiet, jump }) => {
      await born(birthOf("r1"));
      const first = worker({ concurrency: 1 });
      await quiet();
      const second = worker({ pollMs: leaseMs / 10 });
      await quiet();
      jump(hour);
      await born(birthOf("r2"));
      await pass(leaseMs - 1);
      assert.deepEqual([first.inHand(), second.names()], [["r1"], []]);
      await pass(leaseMs / 5); // the leap was seen at the first look after it
      assert.deepEqual([first.inHand(), second.names()], [["r1"], ["r2"]]);
      assert.equal(first.claims[0]?.held.lost.aborted, false);
    }),

  "P8 suspects are tried one at a time: the next when the last is out of hand, or has lived a while": dispatching(
    async ({ store, worker, born, pass, quiet }) => {
      await born(birthOf("r1"), birthOf("r2"), birthOf("r3"));
      for (let crash = 0; crash < suspectAfter; crash += 1) {
        assert.equal((await claimAll(store)).length, 3);
        await pass(leaseMs);
      }
      await born(birthOf("good"));
      const each = worker({ pollMs: 100 });
      await quiet();
      assert.deepEqual(each.inHand(), ["r1", "good"]);
      await each.claims[0]?.end();
      await pass(100);
      assert.deepEqual(each.inHand(), ["good", "r2"]);
      await pass(800);
      assert.deepEqual(each.inHand(), ["good", "r2"]);
      await pass(300);
      assert.deepEqual(each.inHand(), ["good", "r2", "r3"]);
    },
  ),

  "P6 a run that nothing can read is tried ever more rarely, and that is said once": dispatching(
    async ({ worker, born, pass }) => {
      await born(birthOf("poison"));
      const each = worker({ isBroken: true, crashLimit: 3, pollMs: 100 * hour });
      await pass(5 * leaseMs - 1);
      assert.equal(each.claims.length, 4); // three as always; the fourth is followed by a pause of two leases
      await pass(1);
      assert.equal(each.claims.length, 5);
      const warned = (): readonly string[] => each.warnings.filter((text) => text.includes("got nowhere"));
      assert.equal(warned().length, 1);
      assert.ok(warned()[0]?.includes("poison"));
      await pass(leaseMs * 2 ** 8);
      assert.ok(each.claims.length <= 12, `${each.claims.length} claims`);
      await pass(10 * hour);
      assert.ok(each.claims.length >= 20 && each.claims.length <= 26, `${each.claims.length} claims`);
      assert.equal(warned().length, 1);
    },
  ),
};

async function expectGivenUp(
  { worker, born, pass, quiet }: Parameters<Parameters<typeof dispatching>[0]>[0],
  intercept: Intercept,
): Promise<void> {
  await born(birthOf("r1"));
  const each = worker({ intercept });
  await quiet();
  const held = each.claims[0]?.held;
  assert.ok(held);
  let left = Number.NaN;
  held.lost.addEventListener("abort", () => {
    left = held.timeLeft();
  });
  await pass(leaseMs / 2);
  assert.equal(held.lost.aborted, false);
  await pass(leaseMs / 2 - 1);
  assert.equal(held.lost.aborted, true);
  assert.ok(left > 0 && left <= leaseMs / 20, `given up ${left} ms before its end`);
}

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}

function fenced<T>(): Promise<T> {
  return Promise.resolve({ kind: "fenced" } as T);
}
