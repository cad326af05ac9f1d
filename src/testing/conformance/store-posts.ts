/** Checks of the outside door: `post`. */
import assert from "node:assert/strict";
import type { InputId, TicketId } from "../../domain/ids.ts";
import type { TicketRecord } from "../../domain/ticket.ts";
import { type Claim, inboxLimit, type Post, type PostAnswer, type Store } from "../../ports/store.ts";
import {
  birthOf,
  cancelOf,
  checked,
  claimAll,
  claimOne,
  decided,
  decisionOn,
  ended,
  headOf,
  inputTo,
  keyOf,
  opened,
  rowOf,
  type StoreCheck,
  saidByInput,
  scopeA,
  started,
  throwsCode,
  ticketOf,
  waiting,
  withdrawalOf,
  write,
} from "./store-fixtures.ts";

/** A run r1 that waits on one ticket; its head is 4. */
async function waitingOn(store: Store, ticket: TicketRecord): Promise<Claim> {
  await store.create(birthOf("r1"));
  const claim = await claimOne(store);
  await write(store, claim, { entries: [started(0), opened(ticket), waiting], after: 1 });
  return claim;
}

function refused(code: string): PostAnswer {
  return { kind: "refused", code } as PostAnswer;
}

export const posts: Record<string, StoreCheck> = {
  "S5 of a hundred answers to a ticket one settles it and everyone learns which": checked(async ({ store }) => {
    const ticket = ticketOf("r1", 1);
    await waitingOn(store, ticket);
    const all = Array.from({ length: 100 }, (_, n) => store.post(decisionOn(ticket, `k${n}`)));
    const answers = await Promise.all(all);
    assert.equal(answers.filter((answer) => answer.kind === "posted").length, 1);
    const settlements = answers.map((answer) => ("settlement" in answer ? answer.settlement : undefined));
    const [row] = await store.tickets({ scope: scopeA, status: "decided", limit: 9 });
    for (const settlement of settlements) assert.deepEqual(settlement, row?.settlement);
    assert.equal(row?.settlement?.seq, 5);
    assert.equal(await headOf(store, keyOf("r1")), 5);
  }),

  "S5 an answer to another hash, ticket or run is refused and writes nothing": checked(async ({ store }) => {
    const ticket = ticketOf("r1", 1);
    await waitingOn(store, ticket);
    await store.create(birthOf("r2"));
    const { hash: _hash, ...withoutHash } = decisionOn(ticket, "k");
    const cases: [Post, string][] = [
      [{ ...decisionOn(ticket, "k"), hash: "stale" }, "ticket-hash-mismatch"],
      [withoutHash, "ticket-hash-mismatch"],
      [{ ...decisionOn(ticket, "k"), fact: decided("none" as TicketId, "k") }, "ticket-not-found"],
      [{ ...decisionOn(ticket, "k"), ...keyOf("r2") }, "ticket-not-found"],
      [{ ...decisionOn(ticket, "k"), ...keyOf("none") }, "run-not-found"],
    ];
    for (const [post, code] of cases) assert.deepEqual(await store.post(post), refused(code));
    assert.equal(await headOf(store, keyOf("r1")), 4);
    assert.deepEqual(await store.tickets({ scope: scopeA, limit: 9 }), [{ ticket }]);
  }),

  "S5 a ticket takes answers from decidableFrom on and before expiresAt, by store time": checked(
    async ({ store, clock }) => {
      const first = ticketOf("r1", 1, { decidableFrom: 2_000, expiresAt: 3_000 });
      const second = ticketOf("r1", 2, { expiresAt: 3_000 });
      const claim = await waitingOn(store, first);
      await write(store, claim, { entries: [opened(second)], after: 4 });
      clock.advance(999);
      const early = { kind: "refused", code: "ticket-not-decidable", decidableFrom: 2_000 };
      assert.deepEqual(await store.post(decisionOn(first, "k")), early);
      clock.advance(1);
      assert.equal((await store.post(decisionOn(first, "k"))).kind, "posted");
      clock.advance(1_000);
      assert.deepEqual(await store.post(decisionOn(second, "k2")), refused("ticket-expired"));
    },
  ),

  "S5 a ticket that the worker settled is settled for everyone, and no commit settles it again": checked(
    async ({ store }) => {
      const ticket = ticketOf("r1", 1);
      const claim = await waitingOn(store, ticket);
      const closed = decided(ticket.id, "engine-1", { kind: "closed", why: "cancelled" });
      await write(store, claim, { entries: [closed], after: 4 });
      const answer = await store.post(decisionOn(ticket, "k"));
      assert.equal(answer.kind, "settled");
      assert.deepEqual("settlement" in answer ? answer.settlement?.decision : undefined, {
        kind: "closed",
        why: "cancelled",
      });
      const again = { ...keyOf("r1"), epoch: claim.epoch, expectedSeq: 5, entries: [closed], position: 0 };
      await throwsCode(store.commit(again), "illegal-transition");
      assert.equal(await headOf(store, keyOf("r1")), 5);
    },
  ),

  "S5 nothing is posted to a run that has ended, but a settled ticket still answers": checked(async ({ store }) => {
    const ticket = ticketOf("r1", 1);
    const claim = await waitingOn(store, ticket);
    await store.post(decisionOn(ticket, "k"));
    await write(store, claim, { entries: [ended], after: 5 });
    assert.deepEqual(await store.post(cancelOf("r1")), refused("run-ended"));
    assert.deepEqual(await store.post(inputTo("r1", "i1")), refused("run-ended"));
    assert.equal((await store.post(decisionOn(ticket, "k2"))).kind, "settled");
    assert.equal(await headOf(store, keyOf("r1")), 6);
  }),

  "S6 the same post key gives the first answer again, also after the end, and keys are per run": checked(
    async ({ store, clock }) => {
      const ticket = ticketOf("r1", 1);
      const claim = await waitingOn(store, ticket);
      const first = await store.post(decisionOn(ticket, "k"));
      assert.equal(first.kind, "posted");
      clock.advance(500);
      assert.deepEqual(await store.post(decisionOn(ticket, "k")), first);
      await write(store, claim, { entries: [ended], after: 5 });
      assert.deepEqual(await store.post(decisionOn(ticket, "k")), first);
      await store.create(birthOf("r2"));
      assert.equal((await store.post(cancelOf("r2", "k"))).kind, "posted");
    },
  ),

  "a refused post is not remembered: its key may succeed later": checked(async ({ store, clock }) => {
    const ticket = ticketOf("r1", 1, { decidableFrom: 2_000 });
    await waitingOn(store, ticket);
    assert.equal((await store.post(decisionOn(ticket, "k"))).kind, "refused");
    clock.advance(1_000);
    assert.equal((await store.post(decisionOn(ticket, "k"))).kind, "posted");
  }),

  "a run is asked to cancel once, by request or by a ticket's answer": checked(async ({ store }) => {
    const ticket = ticketOf("r1", 1, { kind: "quarantined" });
    await waitingOn(store, ticket);
    await store.post({ ...decisionOn(ticket, "k"), fact: decided(ticket.id, "k", { kind: "cancel-run" }) });
    assert.deepEqual(await store.post(cancelOf("r1")), { kind: "already", seq: 5 });
    await store.create(birthOf("r2"));
    assert.deepEqual(await store.post(cancelOf("r2", "k1")), { kind: "posted", seq: 2, at: 1_000 });
    assert.deepEqual(await store.post(cancelOf("r2", "k2")), { kind: "already", seq: 2 });
  }),

  "an input is received once, withdrawn while unread, and not after the run took it": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    assert.deepEqual(await store.post(withdrawalOf("r1", "i1")), refused("input-not-found"));
    assert.deepEqual(await store.post(inputTo("r1", "i1")), { kind: "posted", seq: 2, at: 1_000 });
    assert.deepEqual(await store.post(inputTo("r1", "i1", "other")), { kind: "already", seq: 2 });
    assert.deepEqual(await store.post(inputTo("r1", "i2")), { kind: "posted", seq: 3, at: 1_000 });
    assert.deepEqual(await store.post(withdrawalOf("r1", "i2")), { kind: "posted", seq: 4, at: 1_000 });
    assert.deepEqual(await store.post(withdrawalOf("r1", "i2", "other")), { kind: "already", seq: 4 });
    await write(store, claim, { entries: [started(0), saidByInput("i1", 2)], after: 4 });
    assert.deepEqual(await store.post(withdrawalOf("r1", "i1")), refused("input-taken"));
    const again = { entries: [saidByInput("i2", 3)], position: 1 };
    await throwsCode(
      store.commit({ ...keyOf("r1"), epoch: claim.epoch, expectedSeq: 6, ...again }),
      "illegal-transition",
    );
  }),

  "an inbox is full at its limit and has room again when an input is taken": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    const all = Array.from({ length: inboxLimit }, (_, n) => store.post(inputTo("r1", `i${n}`)));
    assert.ok((await Promise.all(all)).every((answer) => answer.kind === "posted"));
    assert.deepEqual(await store.post(inputTo("r1", "more")), refused("inbox-full"));
    await write(store, claim, { entries: [started(0), saidByInput("i0" as InputId, 2)], after: 1 + inboxLimit });
    assert.equal((await store.post(inputTo("r1", "more"))).kind, "posted");
  }),

  "a post wakes a waiting run; a queued one is woken by a cancel only": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1", { thread: "t" }));
    await store.create(birthOf("r2", { thread: "t" }));
    await write(store, await claimOne(store), { entries: [started(0), waiting], after: 1 });
    assert.deepEqual(await claimAll(store), []);
    clock.advance(50);
    await store.post(inputTo("r2", "i2"));
    assert.deepEqual(await claimAll(store), []);
    await store.post(inputTo("r1", "i1"));
    assert.equal((await rowOf(store, keyOf("r1"))).wake, clock.now());
    assert.equal((await claimOne(store)).run, "r1");
    await store.post(cancelOf("r2"));
    assert.equal((await claimOne(store)).run, "r2");
  }),
};
