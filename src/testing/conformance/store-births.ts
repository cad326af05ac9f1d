/** Checks of `create`, and of what a scope hides. */
import assert from "node:assert/strict";
import type { Fingerprint } from "../../domain/ids.ts";
import {
  birthOf,
  cancelOf,
  checked,
  claimAll,
  claimOne,
  decisionOn,
  ended,
  keyOf,
  manifestOf,
  opened,
  rowOf,
  type StoreCheck,
  scopeA,
  scopeB,
  started,
  throwsCode,
  ticketOf,
  waiting,
  write,
} from "./store-fixtures.ts";

export const births: Record<string, StoreCheck> = {
  "S1 a birth writes run-created as entry 1, without an epoch": checked(async ({ store, clock }) => {
    const birth = birthOf("r1");
    assert.deepEqual(await store.create(birth), { kind: "created", queued: false });
    const [entry, ...rest] = await store.readRun({ ...keyOf("r1"), after: 0, limit: 10 });
    assert.deepEqual(entry, { ...birth.entry, seq: 1, at: clock.now(), epoch: null });
    assert.equal(rest.length, 0);
    assert.deepEqual(await store.run(keyOf("r1")), {
      ...{ ...keyOf("r1"), thread: "thread-r1", agent: "ann", status: "created", queued: false },
      ...{ epoch: 0, head: 1, crashes: 0, fingerprint: "print-ann", createdAt: clock.now() },
    });
  }),

  "S6 the same start key and request is the first run again": checked(async ({ store }) => {
    await store.create(birthOf("r1", { key: "k" }));
    assert.deepEqual(await store.create(birthOf("r2", { key: "k" })), { kind: "existing", run: "r1" });
    assert.equal(await store.run(keyOf("r2")), undefined);
  }),

  "S6 the same start key with another request is a conflict that names the run": checked(async ({ store }) => {
    await store.create(birthOf("r1", { key: "k" }));
    const answer = await store.create(birthOf("r2", { key: "k", requestHash: "other" }));
    assert.deepEqual(answer, { kind: "conflict", run: "r1" });
    assert.equal(await store.run(keyOf("r2")), undefined);
  }),

  "S6 of a hundred births with one key one is created": checked(async ({ store }) => {
    const all = Array.from({ length: 100 }, (_, n) => store.create(birthOf(`r${n}`, { key: "k" })));
    const kinds = (await Promise.all(all)).map((answer) => answer.kind);
    assert.equal(kinds.filter((kind) => kind === "created").length, 1);
    assert.equal(kinds.filter((kind) => kind === "existing").length, 99);
  }),

  "a run id is used once": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const answer = await store.create(birthOf("r1", { key: "other", thread: "elsewhere" }));
    assert.deepEqual(answer, { kind: "run-exists" });
    assert.equal((await rowOf(store, keyOf("r1"))).thread, "thread-r1");
  }),

  "a run on a busy thread is queued, and after the end of all the next one is not": checked(async ({ store }) => {
    await store.create(birthOf("r1", { thread: "t" }));
    assert.deepEqual(await store.create(birthOf("r2", { thread: "t" })), { kind: "created", queued: true });
    for (const _ of ["r1", "r2"]) {
      await write(store, await claimOne(store), { entries: [started(0), ended], after: 1 });
    }
    assert.deepEqual(await store.create(birthOf("r3", { thread: "t" })), { kind: "created", queued: false });
  }),

  "a manifest is stored with the birth that first cites it": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    await store.create(birthOf("r2"));
    assert.deepEqual(await store.manifest(scopeA, "print-ann" as Fingerprint), manifestOf("ann"));
    assert.equal(await store.manifest(scopeA, "print-bob" as Fingerprint), undefined);
  }),

  "S11 a scope finds nothing of another": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    const ticket = ticketOf("r1", 1);
    const head = await write(store, claim, { entries: [started(0), opened(ticket), waiting], after: 1 });
    const elsewhere = keyOf("r1", scopeB);
    assert.equal(await store.run(elsewhere), undefined);
    assert.deepEqual(await store.readRun({ ...elsewhere, after: 0, limit: 9 }), []);
    assert.deepEqual(await store.readAll({ scope: scopeB, after: 0, limit: 9 }), []);
    assert.deepEqual(await store.readThread({ scope: scopeB, thread: claim.thread, limit: 9 }), []);
    assert.deepEqual(await store.tickets({ scope: scopeB, id: ticket.id, limit: 9 }), []);
    assert.equal(await store.manifest(scopeB, "print-ann" as Fingerprint), undefined);
    assert.equal(await store.nextDue({ scope: scopeB, agents: ["ann"] }), undefined);
    assert.deepEqual(await claimAll(store, { scope: scopeB }), []);
    const refused = { kind: "refused", code: "run-not-found" };
    assert.deepEqual(await store.post(decisionOn(ticket, "k", scopeB)), refused);
    assert.deepEqual(await store.post({ ...cancelOf("r1"), scope: scopeB }), refused);
    const commit = { ...elsewhere, epoch: claim.epoch, expectedSeq: head, entries: [ended], position: 0 };
    assert.deepEqual(await store.commit(commit), { kind: "fenced" });
    assert.deepEqual(await store.release(commit), { kind: "fenced" });
    assert.deepEqual(await store.renew({ ...elsewhere, epoch: claim.epoch, leaseMs: 9 }), { kind: "fenced" });
    assert.equal(await store.snapshot(elsewhere), undefined);
    assert.deepEqual(await store.evidence(elsewhere), []);
    assert.equal((await rowOf(store, keyOf("r1"))).head, head);
  }),

  "S11 run ids, threads and start keys of two scopes do not meet": checked(async ({ store }) => {
    await store.create(birthOf("r1", { thread: "t", key: "k" }));
    const answer = await store.create(birthOf("r1", { thread: "t", key: "k", scope: scopeB }));
    assert.deepEqual(answer, { kind: "created", queued: false });
    const claim = await claimOne(store, { scope: scopeB });
    await write(store, claim, { entries: [started(0), ended], after: 1 });
    assert.equal((await rowOf(store, keyOf("r1"))).status, "created");
  }),

  "after close every call throws store-closed, and what was written is there when it is opened again": checked(
    async ({ store, reopen }) => {
      const created = store.create(birthOf("r1"));
      await store.close();
      assert.deepEqual(await created, { kind: "created", queued: false });
      await throwsCode(store.run(keyOf("r1")), "store-closed");
      await throwsCode(store.create(birthOf("r2")), "store-closed");
      assert.equal((await rowOf(await reopen(), keyOf("r1"))).head, 1);
    },
  ),
};
