/** Checks of the worker door: `commit` and `release`. */
import assert from "node:assert/strict";
import type { Commit } from "../../ports/store.ts";
import {
  birthOf,
  cancelOf,
  checked,
  claimAll,
  claimOne,
  ended,
  headOf,
  inputTo,
  keyOf,
  leaseMs,
  opened,
  resumed,
  rowOf,
  type StoreCheck,
  saidAtBirth,
  saidByInput,
  scopeA,
  started,
  stepped,
  throwsCode,
  ticketOf,
  waiting,
  write,
} from "./store-fixtures.ts";

function commitOf(run: string, epoch: number, expectedSeq: number): Commit {
  return { ...keyOf(run), epoch, expectedSeq, entries: [stepped(1)], position: 0 };
}

export const commits: Record<string, StoreCheck> = {
  "S1 seqs are given by the store and have no gap": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    const head = await write(store, claim, { entries: [started(0), stepped(1), stepped(2)], after: 1 });
    clock.advance(5);
    await store.post(cancelOf("r1"));
    await write(store, claim, { entries: [stepped(3), stepped(4)], after: head + 1 });
    const entries = await store.readRun({ ...keyOf("r1"), after: 0, limit: 99 });
    assert.deepEqual(
      entries.map((entry) => entry.seq),
      [1, 2, 3, 4, 5, 6, 7],
    );
    assert.deepEqual(
      entries.map((entry) => entry.epoch),
      [null, 1, 1, 1, null, 1, 1],
    );
    assert.deepEqual(
      entries.map((entry) => entry.at),
      [1000, 1000, 1000, 1000, 1005, 1005, 1005],
    );
  }),

  "S2 a commit of another epoch is fenced and writes nothing": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const { epoch } = await claimOne(store);
    for (const other of [epoch - 1, epoch + 1]) {
      assert.deepEqual(await store.commit(commitOf("r1", other, 1)), { kind: "fenced" });
      assert.deepEqual(await store.release(commitOf("r1", other, 1)), { kind: "fenced" });
      assert.deepEqual(await store.commit(commitOf("r1", other, 9)), { kind: "fenced" });
    }
    assert.deepEqual(await store.commit(commitOf("none", epoch, 1)), { kind: "fenced" });
    assert.equal(await headOf(store, keyOf("r1")), 1);
  }),

  "S2 the epoch is the fence, not the lease's time": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1"));
    const first = await claimOne(store);
    clock.advance(leaseMs * 10);
    const head = await write(store, first, { entries: [started(0)], after: 1 });
    await claimOne(store);
    assert.deepEqual(await store.commit(commitOf("r1", first.epoch, head)), { kind: "fenced" });
  }),

  "S3 a commit below the head is behind: it writes nothing and gets every entry it has not seen": checked(
    async ({ store }) => {
      await store.create(birthOf("r1"));
      const { epoch } = await claimOne(store);
      await store.post(inputTo("r1", "i1"));
      await store.post(cancelOf("r1"));
      const answer = await store.commit(commitOf("r1", epoch, 1));
      assert.equal(answer.kind, "behind");
      assert.deepEqual(answer.kind === "behind" ? answer.entries.map((entry) => entry.type) : [], [
        "input-received",
        "cancel-requested",
      ]);
      assert.deepEqual(await store.release(commitOf("r1", epoch, 1)), answer);
      assert.equal(await headOf(store, keyOf("r1")), 3);
    },
  ),

  "S3 behind in the middle of a commit gets the rest of that commit": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    await write(store, claim, { entries: [started(0), stepped(1), stepped(2)], after: 1 });
    const answer = await store.commit(commitOf("r1", claim.epoch, 3));
    assert.deepEqual(answer.kind === "behind" ? answer.entries.map((entry) => entry.seq) : [], [4]);
  }),

  "S3 a commit above the head throws journal-regressed and writes nothing": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const { epoch } = await claimOne(store);
    await throwsCode(store.commit(commitOf("r1", epoch, 2)), "journal-regressed");
    await throwsCode(store.release(commitOf("r1", epoch, 2)), "journal-regressed");
    assert.equal(await headOf(store, keyOf("r1")), 1);
  }),

  "S4 a commit that waits clears the lease, sets the wake and opens the ticket": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    const ticket = ticketOf("r1", 1);
    const entries = [started(0), opened(ticket), waiting];
    await write(store, claim, { entries, after: 1, wake: 5_000 });
    const row = await rowOf(store, keyOf("r1"));
    assert.deepEqual([row.status, row.leaseUntil, row.wake, row.startPosition], ["waiting", undefined, 5_000, 0]);
    assert.deepEqual(await store.tickets({ scope: scopeA, status: "open", limit: 9 }), [{ ticket }]);
  }),

  "S4 a refused commit changes no row": checked(async ({ store }) => {
    await store.create(birthOf("r1", { thread: "t" }));
    await store.create(birthOf("r2", { thread: "t" }));
    const claim = await claimOne(store);
    await store.post(inputTo("r1", "i1"));
    const before = await rowOf(store, keyOf("r1"));
    const entries = [started(0), saidByInput("i1", 2), opened(ticketOf("r1", 1)), ended];
    await store.commit({ ...keyOf("r1"), epoch: claim.epoch, expectedSeq: 1, entries, position: 0 });
    await store.commit({ ...keyOf("r1"), epoch: 9, expectedSeq: 2, entries, position: 0 });
    assert.deepEqual(await store.run(keyOf("r1")), before);
    assert.deepEqual(await store.tickets({ scope: scopeA, limit: 9 }), []);
    assert.equal((await rowOf(store, keyOf("r2"))).queued, true);
  }),

  "S4 a commit that breaks half way leaves nothing behind": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    const ticket = ticketOf("r1", 1);
    const head = await write(store, claim, { entries: [started(0), opened(ticket)], after: 1 });
    const before = await rowOf(store, keyOf("r1"));
    const entries = [opened(ticketOf("r1", 2)), opened(ticket), waiting];
    const broken = { ...keyOf("r1"), epoch: claim.epoch, expectedSeq: head, entries, position: 0 };
    await throwsCode(store.commit(broken), "illegal-transition");
    assert.deepEqual(await store.run(keyOf("r1")), before);
    assert.equal((await store.tickets({ scope: scopeA, limit: 9 })).length, 1);
    await write(store, claim, { entries: [stepped(1)], after: head });
  }),

  "a commit without entries and one after the end throw illegal-transition": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    await throwsCode(store.commit({ ...commitOf("r1", claim.epoch, 1), entries: [] }), "illegal-transition");
    const head = await write(store, claim, { entries: [started(0), ended], after: 1 });
    await throwsCode(store.commit(commitOf("r1", claim.epoch, head)), "illegal-transition");
    assert.deepEqual(await store.release(commitOf("r1", claim.epoch, head)), { kind: "committed", at: 1_000 });
    assert.equal(await headOf(store, keyOf("r1")), head);
    assert.deepEqual(await claimAll(store), []);
  }),

  "a run that resumes keeps its lease; one that ends gives it back": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1"));
    const first = await claimOne(store);
    let head = await write(store, first, { entries: [started(0), waiting], after: 1, wake: 2_000 });
    clock.advance(1_000);
    const second = await claimOne(store);
    head = await write(store, second, { entries: [resumed], after: head });
    const running = await rowOf(store, keyOf("r1"));
    assert.deepEqual([running.status, running.leaseUntil, running.wake], ["running", second.leaseUntil, undefined]);
    await write(store, second, { entries: [ended], after: head });
    const done = await rowOf(store, keyOf("r1"));
    assert.deepEqual([done.status, done.leaseUntil, done.wake], ["done", undefined, undefined]);
  }),

  "a release clears lease and crash count and sets the wake": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    const head = await write(store, claim, { entries: [started(0), waiting], after: 1 });
    const release = { ...keyOf("r1"), epoch: claim.epoch, expectedSeq: head };
    assert.deepEqual(await store.release({ ...release, wake: 7_000 }), { kind: "committed", at: 1_000 });
    const row = await rowOf(store, keyOf("r1"));
    assert.deepEqual([row.leaseUntil, row.wake, row.crashes], [undefined, 7_000, 0]);
    await store.release(release);
    assert.equal((await rowOf(store, keyOf("r1"))).wake, undefined);
  }),

  "S8 the end of a run promotes the oldest queued one and says where it begins": checked(async ({ store }) => {
    for (const run of ["r1", "r2", "r3"]) await store.create(birthOf(run, { thread: "t" }));
    const first = await claimOne(store);
    assert.equal(first.threadPosition, 0);
    const head = await write(store, first, { entries: [started(0), saidAtBirth(0), saidAtBirth(1)], after: 1 });
    await write(store, first, { entries: [saidAtBirth(1), ended], after: head, position: 2 });
    const second = await claimOne(store);
    assert.deepEqual([second.run, second.threadPosition], ["r2", 3]);
    assert.equal((await rowOf(store, keyOf("r3"))).queued, true);
  }),

  "S8 the end of a queued run promotes nobody and moves no position": checked(async ({ store }) => {
    for (const run of ["r1", "r2", "r3"]) await store.create(birthOf(run, { thread: "t" }));
    const first = await claimOne(store);
    await store.post(cancelOf("r2"));
    const queued = await claimOne(store);
    assert.equal(queued.run, "r2");
    await write(store, queued, { entries: [ended], after: 2, position: 7 });
    assert.equal((await rowOf(store, keyOf("r3"))).queued, true);
    await write(store, first, { entries: [started(0), ended], after: 1 });
    const third = await claimOne(store);
    assert.deepEqual([third.run, third.threadPosition], ["r3", 0]);
  }),

  "S8 a run claimed while queued and promoted before it ends moves no position back": checked(async ({ store }) => {
    for (const run of ["r1", "r2", "r3"]) await store.create(birthOf(run, { thread: "t" }));
    const first = await claimOne(store);
    await store.post(cancelOf("r2"));
    const stale = await claimOne(store);
    await write(store, first, { entries: [started(0), saidAtBirth(0), ended], after: 1 });
    await write(store, stale, { entries: [ended], after: 2, position: stale.threadPosition });
    const third = await claimOne(store);
    assert.deepEqual([stale.threadPosition, third.run, third.threadPosition], [0, "r3", 1]);
  }),

  "S9 refused members of a group fail no neighbour": checked(async ({ store }) => {
    const runs = Array.from({ length: 30 }, (_, n) => `r${n}`);
    await Promise.all(runs.map((run) => store.create(birthOf(run))));
    await claimAll(store);
    const wanted = runs.map((run, n) => commitOf(run, n % 5 === 0 ? 7 : 1, n % 7 === 3 ? 4 : 1));
    const answers = await Promise.allSettled(wanted.map((commit) => store.commit(commit)));
    for (const [n, answer] of answers.entries()) {
      const expected = n % 5 === 0 ? "fenced" : n % 7 === 3 ? "thrown" : "committed";
      assert.equal(answer.status === "fulfilled" ? answer.value.kind : "thrown", expected, `member ${n}`);
      assert.equal(await headOf(store, keyOf(`r${n}`)), expected === "committed" ? 2 : 1);
    }
  }),
};
