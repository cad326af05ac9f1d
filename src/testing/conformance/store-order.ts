/** Checks of when and in which order runs are claimed: `priority`, start times, deadlines, queues, and over scopes (S7, S13). */
import assert from "node:assert/strict";
import type { Scope } from "../../domain/ids.ts";
import type { Store } from "../../ports/store.ts";
import {
  birthOf,
  cancelOf,
  checked,
  claimAll,
  claimOne,
  ended,
  inputTo,
  keyOf,
  leaseMs,
  play,
  type StoreCheck,
  scopeA,
  scopeB,
  started,
  waiting,
  write,
} from "./store-fixtures.ts";

const due = { scope: scopeA, agents: ["ann"] };

async function claimed(store: Store, limit: number, agents: readonly string[] = ["ann"]): Promise<readonly string[]> {
  return (await claimAll(store, { limit, agents })).map(({ run }) => run);
}

export const order: Record<string, StoreCheck> = {
  "S13 claims go by priority, then by the time since which a run is due, then by birth": checked(
    async ({ store, clock }) => {
      await store.create(birthOf("woken"));
      await write(store, await claimOne(store), { entries: [started(0), waiting], after: 1, wake: clock.now() + 5 });
      await store.create(birthOf("low", { priority: -1 }));
      await store.create(birthOf("first"));
      clock.advance(10);
      await store.create(birthOf("bobs", { agent: "bob" }));
      await store.create(birthOf("second"));
      await store.create(birthOf("high", { priority: 2 }));
      await store.create(birthOf("raised", { priority: 1, agent: "bob" }));
      const both = ["ann", "bob"];
      assert.deepEqual(await claimed(store, 3, both), ["high", "raised", "first"]);
      assert.deepEqual(await claimed(store, 9, both), ["woken", "bobs", "second", "low"]);
    },
  ),

  "S13 a thread with a long queue gets one place in the line: a promoted run goes behind what is due": checked(
    async ({ store, clock }) => {
      for (const run of ["q1", "q2", "q3"]) await store.create(birthOf(run, { thread: "long" }));
      clock.advance(1);
      for (const run of ["a", "b"]) await store.create(birthOf(run));
      assert.deepEqual(await claimed(store, 1), ["q1"]);
      clock.advance(1);
      await write(store, await claimOf(store, "q1"), { entries: [started(0), ended], after: 1 });
      assert.deepEqual(await claimed(store, 2), ["a", "b"]);
      assert.deepEqual(await claimed(store, 9), ["q2"]);
      clock.advance(1);
      await store.create(birthOf("c"));
      clock.advance(1);
      await write(store, await claimOf(store, "q2"), { entries: [started(0), ended], after: 1 });
      assert.deepEqual(await claimed(store, 9), ["c", "q3"]);
    },
  ),

  "S13 a run that was handed over goes before those that wait for their first claim": checked(
    async ({ store, clock }) => {
      await store.create(birthOf("begun"));
      const claim = await claimOne(store);
      await write(store, claim, { entries: [started(0)], after: 1 });
      clock.advance(1);
      await store.create(birthOf("new"));
      await store.release({ ...keyOf("begun"), epoch: claim.epoch, expectedSeq: 2, wake: clock.now() });
      assert.deepEqual(await claimed(store, 9), ["begun", "new"]);
    },
  ),

  "S7 a run with a start time is claimable from then on; only a request to cancel wakes it before, to end it": checked(
    async ({ store, clock }) => {
      const startAt = clock.now() + 500;
      for (const run of ["r1", "r2"]) await store.create(birthOf(run, { startAt }));
      assert.equal(await store.nextDue(due), startAt);
      assert.equal((await store.post(inputTo("r1", "i1"))).kind, "posted");
      clock.advance(499);
      assert.deepEqual(await claimAll(store), []);
      await store.post(cancelOf("r2"));
      const early = await claimOne(store);
      assert.deepEqual([early.run, early.mayStart], ["r2", false]);
      await write(store, early, { entries: [ended], after: 2 });
      clock.advance(1);
      const claim = await claimOne(store);
      assert.deepEqual([claim.run, claim.mayStart], ["r1", true]);
    },
  ),

  "S7 a start time counts also for a run that was queued when it came, and holds the thread until then": checked(
    async ({ store, clock }) => {
      const startAt = clock.now() + 500;
      await store.create(birthOf("r1", { thread: "t" }));
      await store.create(birthOf("r2", { thread: "t", startAt }));
      await store.create(birthOf("r3", { thread: "t" }));
      await play(store, 0);
      assert.equal(await store.nextDue(due), startAt);
      assert.deepEqual(await claimAll(store), []);
      clock.advance(500);
      const claim = await claimOne(store);
      assert.deepEqual([claim.run, claim.mayStart], ["r2", true]);
    },
  ),

  "S7 a start time that is past is the birth": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1", { startAt: 1 }));
    assert.equal(await store.nextDue(due), clock.now());
    assert.equal((await claimOne(store)).mayStart, true);
  }),

  "S7 a queued run is claimable at its deadline, to end it": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1", { thread: "t" }));
    await claimOne(store);
    const deadlineAt = clock.now() + leaseMs / 2;
    await store.create(birthOf("r2", { thread: "t", deadlineAt }));
    assert.equal((await store.post(inputTo("r2", "i1"))).kind, "posted");
    assert.equal(await store.nextDue(due), deadlineAt);
    clock.advance(leaseMs / 2 - 1);
    assert.deepEqual(await claimAll(store), []);
    clock.advance(1);
    const claim = await claimOne(store);
    assert.deepEqual([claim.run, claim.mayStart], ["r2", false]);
    await write(store, claim, { entries: [ended], after: 2 });
    assert.deepEqual(await claimAll(store), []);
  }),

  "S7 a queued run that gets its thread before its deadline is claimed to start": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1", { thread: "t" }));
    await store.create(birthOf("r2", { thread: "t", deadlineAt: clock.now() + 500 }));
    await play(store, 0);
    const claim = await claimOne(store);
    assert.deepEqual([claim.run, claim.mayStart], ["r2", true]);
  }),

  "S11 dueScopes names the scopes in which something is or will be claimable, page by page": checked(
    async ({ store, clock }) => {
      const agents = ["ann"];
      assert.deepEqual(await store.dueScopes({ agents, limit: 9 }), { scopes: [] });
      await store.create(birthOf("r1", { scope: scopeB }));
      await store.create(birthOf("r1", { scope: "c" as Scope, agent: "bob" }));
      await store.create(birthOf("r1", { scope: "d" as Scope, startAt: clock.now() + 9 }));
      await store.create(birthOf("r2", { scope: scopeA, priority: -2 }));
      clock.advance(1);
      await store.create(birthOf("r3", { scope: scopeA, priority: 2 }));
      const first = await store.dueScopes({ agents, limit: 2 });
      const born = clock.now() - 1;
      assert.deepEqual(first, { scopes: [scopeA, scopeB].map((scope) => ({ scope, due: born })), next: scopeB });
      const rest = await store.dueScopes({ agents, limit: 2, after: scopeB });
      assert.deepEqual(rest, { scopes: [{ scope: "d", due: born + 9 }] });
      const [claim] = await claimAll(store, { scope: scopeB });
      assert.ok(claim);
      await write(store, claim, { entries: [started(0), ended], after: 1 });
      assert.deepEqual(
        (await store.dueScopes({ agents, limit: 9 })).scopes.map(({ scope }) => scope),
        [scopeA, "d"],
      );
    },
  ),
};

/** The claim that holds the run now. */
async function claimOf(store: Store, run: string): Promise<Awaited<ReturnType<typeof claimOne>>> {
  const row = await store.run(keyOf(run));
  assert.ok(row, `run ${run} is stored`);
  const { scope, thread, agent, epoch, crashes, leaseUntil = 0 } = row;
  return { scope, run: row.run, thread, agent, epoch, crashes, leaseUntil, threadPosition: 0, mayStart: true };
}
