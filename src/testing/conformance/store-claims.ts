/** Checks of leases: `claim`, `renew`, `nextDue` and the crash count. */
import assert from "node:assert/strict";
import { type Claim, suspectAfter } from "../../ports/store.ts";
import {
  birthOf,
  cancelOf,
  checked,
  claimAll,
  claimOne,
  ended,
  keyOf,
  leaseMs,
  rowOf,
  type StoreCheck,
  scopeA,
  settled,
  started,
  stepped,
  waiting,
  write,
} from "./store-fixtures.ts";

const due = { scope: scopeA, agents: ["ann"] };

export const claims: Record<string, StoreCheck> = {
  "S7 a run has one live lease; when it lapses the next claim raises epoch and crash count": checked(
    async ({ store, clock }) => {
      await store.create(birthOf("r1"));
      const first = await claimOne(store);
      assert.deepEqual([first.epoch, first.crashes, first.leaseUntil], [1, 1, clock.now() + leaseMs]);
      clock.advance(leaseMs - 1);
      assert.deepEqual(await claimAll(store), []);
      clock.advance(1);
      const second = await claimOne(store);
      assert.deepEqual([second.epoch, second.crashes], [2, 2]);
    },
  ),

  "S7 S13 a suspect run waits for its turn like any other": checked(async ({ store, clock }) => {
    await store.create(birthOf("suspect", { priority: -1 }));
    for (let crash = 0; crash < suspectAfter; crash += 1) {
      await claimOne(store);
      clock.advance(leaseMs);
    }
    await store.create(birthOf("urgent", { priority: 1 }));
    for (const next of ["urgent", "suspect"]) {
      assert.equal((await claimAll(store, { trials: 1, limit: 1 }))[0]?.run, next);
    }
  }),

  "S7 of many claims at once each run goes to one": checked(async ({ store }) => {
    await Promise.all(Array.from({ length: 40 }, (_, n) => store.create(birthOf(`r${n}`))));
    const batches = await Promise.all(Array.from({ length: 20 }, () => claimAll(store, { limit: 3 })));
    const runs = batches.flat().map((claim) => claim.run);
    assert.equal(new Set(runs).size, 40);
    assert.equal(runs.length, 40);
  }),

  "S7 of suspect runs a claim takes as many as it may, and they keep no other from being found": checked(
    async ({ store, clock }) => {
      for (const run of ["bad1", "bad2", "bad3"]) await store.create(birthOf(run));
      for (let crash = 0; crash < suspectAfter; crash += 1) {
        assert.equal((await claimAll(store, { trials: 0 })).length, 3, "not suspect yet");
        clock.advance(leaseMs);
      }
      for (const run of ["good1", "good2", "good3"]) await store.create(birthOf(run, { agent: "bob" }));
      await store.create(birthOf("good4"));
      const agents = ["ann", "bob"];
      const names = (claimed: readonly Claim[]): readonly string[] => claimed.map(({ run }) => run).sort();
      const one = await claimAll(store, { agents, trials: 1, limit: 2 });
      assert.equal(one.length, 2);
      assert.deepEqual(names(one.filter(({ crashes }) => crashes > suspectAfter)), ["bad1"]);
      const none = await claimAll(store, { agents, trials: 0, limit: 3 });
      assert.deepEqual(names([...one, ...none]), ["bad1", "good1", "good2", "good3", "good4"]);
      assert.deepEqual(await claimAll(store, { agents, trials: 0 }), []);
      assert.deepEqual(names(await claimAll(store, { agents })), ["bad2", "bad3"]);
    },
  ),

  "S7 a waiting run is claimable from its wake on, and a claim leaves the wake": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1"));
    await write(store, await claimOne(store), { entries: [started(0), waiting], after: 1, wake: 1_500 });
    clock.advance(499);
    assert.deepEqual(await claimAll(store), []);
    clock.advance(1);
    const claim = await claimOne(store);
    assert.equal((await rowOf(store, keyOf("r1"))).wake, 1_500);
    await store.release({ ...keyOf("r1"), epoch: claim.epoch, expectedSeq: 3 });
    clock.advance(leaseMs * 10);
    assert.deepEqual(await claimAll(store), []);
  }),

  "S7 a queued run is not claimable, unless it is asked to cancel": checked(async ({ store }) => {
    await store.create(birthOf("r1", { thread: "t" }));
    await store.create(birthOf("r2", { thread: "t" }));
    assert.equal((await claimOne(store)).run, "r1");
    assert.deepEqual(await claimAll(store), []);
    await store.post(cancelOf("r2"));
    const claim = await claimOne(store);
    assert.equal(claim.run, "r2");
    assert.equal((await rowOf(store, keyOf("r2"))).queued, true);
  }),

  "claims take runs of the given agents, oldest due first, up to the limit": checked(async ({ store, clock }) => {
    await store.create(birthOf("late"));
    await write(store, await claimOne(store), { entries: [started(0), waiting], after: 1, wake: 1_010 });
    await store.create(birthOf("r1"));
    await store.create(birthOf("bobs", { agent: "bob" }));
    await store.create(birthOf("r2"));
    clock.advance(10);
    const first = await claimAll(store, { limit: 2 });
    assert.deepEqual(
      first.map((claim) => claim.run),
      ["r1", "r2"],
    );
    const rest = await claimAll(store, { agents: ["ann", "bob"] });
    assert.deepEqual(
      rest.map((claim) => claim.run),
      ["bobs", "late"],
    );
    assert.deepEqual(await claimAll(store, { agents: [] }), []);
    assert.deepEqual(await claimAll(store, { limit: 0 }), []);
  }),

  "S6 a claim asked again by its id answers what it holds, and claims when it holds nothing": checked(
    async ({ store }) => {
      await store.create(birthOf("r1"));
      await store.create(birthOf("r2"));
      const request = { scope: scopeA, agents: ["ann"], leaseMs, limit: 2, claimId: "c1" };
      const first = await store.claim(request);
      await store.create(birthOf("r3"));
      assert.deepEqual(await store.claim({ ...request, again: true }), first);
      const other = await store.claim({ ...request, claimId: "c2", again: true });
      assert.deepEqual(
        other.map((claim) => claim.run),
        ["r3"],
      );
      assert.deepEqual(await store.claim({ ...request, claimId: "c3", again: true }), []);
    },
  ),

  "the crash count returns to 0 when a claim gets somewhere, not when it only closes a lost attempt": checked(
    async ({ store, clock }) => {
      await store.create(birthOf("r1"));
      const first = await claimOne(store);
      let head = await write(store, first, { entries: [started(0), stepped(1)], after: 1 });
      clock.advance(leaseMs);
      const second = await claimOne(store);
      assert.equal(second.crashes, 2);
      head = await write(store, second, { entries: [settled("lost")], after: head });
      head = await write(store, second, { entries: [settled("not-made")], after: head });
      assert.equal((await rowOf(store, keyOf("r1"))).crashes, 2);
      head = await write(store, second, { entries: [settled("done")], after: head });
      assert.equal((await rowOf(store, keyOf("r1"))).crashes, 0);
      clock.advance(leaseMs);
      const third = await claimOne(store);
      assert.equal(third.crashes, 1);
      await write(store, third, { entries: [settled("done")], after: head });
      assert.equal((await rowOf(store, keyOf("r1"))).crashes, 0);
    },
  ),

  "renew moves the lease of its epoch and answers the head": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1"));
    const { epoch } = await claimOne(store);
    clock.advance(600);
    await store.post(cancelOf("r1"));
    const leaseUntil = clock.now() + leaseMs;
    const renewal = { ...keyOf("r1"), epoch, leaseMs };
    assert.deepEqual(await store.renew(renewal), { kind: "renewed", leaseUntil, head: 2 });
    clock.advance(600);
    assert.deepEqual(await claimAll(store), []);
    assert.deepEqual(await store.renew({ ...renewal, epoch: epoch + 1 }), { kind: "fenced" });
    clock.advance(400);
    assert.equal((await claimOne(store)).epoch, epoch + 1);
    assert.deepEqual(await store.renew(renewal), { kind: "fenced" });
  }),

  "renew brings back no lease that went with a commit": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    await write(store, claim, { entries: [started(0), waiting], after: 1, wake: 1_000 });
    assert.deepEqual(await store.renew({ ...keyOf("r1"), epoch: claim.epoch, leaseMs }), { kind: "fenced" });
    assert.equal((await claimOne(store)).epoch, claim.epoch + 1);
  }),

  "S7 a claim takes nothing that was not due by the time its asker saw": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1"));
    const { leaseUntil, epoch } = await claimOne(store);
    const request = { ...due, leaseMs, limit: 9 };
    clock.advance(leaseMs * 100); // a leap
    assert.deepEqual(await store.claim({ ...request, claimId: "before", dueBy: leaseUntil - 1 }), []);
    const [claim] = await store.claim({ ...request, claimId: "after", dueBy: leaseUntil });
    assert.equal(claim?.epoch, epoch + 1);
  }),

  "nextDue is the time at which a claim finds something": checked(async ({ store, clock }) => {
    assert.equal(await store.nextDue(due), undefined);
    await store.create(birthOf("r1"));
    assert.ok(((await store.nextDue(due)) ?? Number.NaN) <= clock.now());
    assert.equal(await store.nextDue({ ...due, agents: ["bob"] }), undefined);
    const claim = await claimOne(store);
    assert.equal(await store.nextDue(due), claim.leaseUntil);
    await write(store, claim, { entries: [started(0), waiting], after: 1, wake: 9_000 });
    assert.equal(await store.nextDue(due), 9_000);
    await store.release({ ...keyOf("r1"), epoch: claim.epoch, expectedSeq: 3 });
    assert.equal(await store.nextDue(due), undefined);
    await store.post(cancelOf("r1"));
    const last = await claimOne(store);
    await write(store, last, { entries: [ended], after: 4 });
    assert.equal(await store.nextDue(due), undefined);
  }),
};
