/** Checks of successors: runs that are born in the commit that ends another. */
import assert from "node:assert/strict";
import type { EntryBody } from "../../domain/entry.ts";
import type { Birth } from "../../ports/birth.ts";
import type { Claim, Commit, Store } from "../../ports/store.ts";
import {
  birthOf,
  cancelOf,
  checked,
  claimAll,
  claimOne,
  decisionOn,
  ended,
  headOf,
  inputTo,
  keyOf,
  opened,
  play,
  rowOf,
  type StoreCheck,
  said,
  scopeA,
  scopeB,
  started,
  threadOf,
  throwsCode,
  ticketOf,
  waiting,
  write,
} from "./store-fixtures.ts";

const on = { thread: "t" };

/** The end of a claimed run that has said two messages, and its successor. */
function endOf(claim: Claim, successor: Birth, more: Partial<Commit> = {}): Commit {
  const { scope, run, epoch } = claim;
  const entries: readonly EntryBody[] = [started(0), said("one"), said("two"), ended];
  return { scope, run, epoch, expectedSeq: 1, position: 0, entries, successor, ...more };
}

async function claimed(store: Store): Promise<Claim> {
  await store.create(birthOf("r1", on));
  return claimOne(store);
}

/** Nothing that can be read has changed. */
async function writesNothing(store: Store, act: () => Promise<unknown>): Promise<void> {
  const seen = async (): Promise<unknown> => [
    await store.head(),
    await store.run(keyOf("r1")),
    await store.thread({ scope: scopeA, thread: birthOf("r1", on).entry.identity.thread }),
    await store.countRuns({ scope: scopeA }),
    await store.countRuns({ scope: scopeB }),
  ];
  const before = await seen();
  await act();
  assert.deepEqual(await seen(), before);
}

export const successors: Record<string, StoreCheck> = {
  "S8 a successor is born with the end and has the thread before those that are queued": checked(
    async ({ store, clock, reopen }) => {
      const claim = await claimed(store);
      await store.create(birthOf("r2", on));
      await store.create(birthOf("r3", on));
      clock.advance(5);
      const successor = birthOf("r1.next", { ...on, agent: "bob" });
      assert.deepEqual(await store.commit(endOf(claim, successor)), { kind: "committed", at: clock.now() });
      const row = await rowOf(store, keyOf("r1.next"));
      assert.deepEqual([row.status, row.queued, row.head, row.epoch], ["created", false, 1, 0]);
      assert.deepEqual([row.agent, row.fingerprint, row.createdAt], ["bob", "print-bob", clock.now()]);
      const { current, queued, latest } = await threadOf(store, "t");
      assert.deepEqual([current, queued, latest], [{ run: "r1.next", status: "created" }, 2, "r1.next"]);
      const created = { ...successor.entry, seq: 1, at: clock.now(), epoch: null };
      assert.deepEqual(await store.readRun({ ...keyOf("r1.next"), after: 0, limit: 9 }), [created]);
      const rows = await store.readAll({ scope: scopeA, after: 0, limit: 9 });
      assert.deepEqual(
        rows.slice(-2).map(({ run }) => run),
        ["r1", "r1.next"],
      );
      assert.deepEqual(await store.manifest(scopeA, row.fingerprint), successor.manifest);
      const again = await reopen();
      assert.equal((await play(again, 1, { agents: ["ann", "bob"] })).run, "r1.next");
      assert.deepEqual([(await play(again, 1)).run, (await play(again, 1)).run], ["r2", "r3"]);
    },
  ),

  "S8 a successor goes on where the thread's messages end, also when the one before it never started": checked(
    async ({ store }) => {
      const claim = await claimed(store);
      await store.commit(endOf(claim, birthOf("r1.next", on)));
      const next = await claimOne(store);
      assert.deepEqual([next.run, next.threadPosition], ["r1.next", 2]);
      const third = birthOf("r1.next.next", on);
      await store.commit(endOf(next, third, { entries: [ended], position: 2 }));
      assert.deepEqual(await store.runs({ scope: scopeA, status: "created", order: "oldest", limit: 9 }), [
        { ...(await listed(store, "r1.next.next")), queued: false },
      ]);
      assert.equal((await claimOne(store)).threadPosition, 2);
    },
  ),

  "S2 S3 a commit that is fenced or behind bears nothing": checked(async ({ store, clock }) => {
    const claim = await claimed(store);
    const successor = birthOf("r1.next", on);
    await writesNothing(store, async () => {
      assert.deepEqual(await store.commit(endOf({ ...claim, epoch: 0 }, successor)), { kind: "fenced" });
    });
    await store.post(inputTo("r1", "i1"));
    await writesNothing(store, async () => {
      assert.equal((await store.commit(endOf(claim, successor))).kind, "behind");
      await throwsCode(store.commit(endOf(claim, successor, { expectedSeq: 3 })), "journal-regressed");
    });
    clock.advance(5_000);
    const later = await claimOne(store);
    await writesNothing(store, async () => {
      assert.deepEqual(await store.commit(endOf(claim, successor, { expectedSeq: 2 })), { kind: "fenced" });
    });
    assert.equal((await store.commit(endOf(later, successor, { expectedSeq: 2 }))).kind, "committed");
  }),

  "S6 the same commit again bears nobody else": checked(async ({ store }) => {
    const claim = await claimed(store);
    const commit = endOf(claim, birthOf("r1.next", on));
    await store.commit(commit);
    await writesNothing(store, async () => {
      const again = await store.commit(commit);
      assert.deepEqual(again.kind === "behind" && again.entries.map(({ epoch }) => epoch), [1, 1, 1, 1]);
      await throwsCode(store.commit({ ...commit, expectedSeq: 5 }), "illegal-transition");
    });
    assert.deepEqual(await store.create(birthOf("r1.next", on)), { kind: "existing", run: "r1.next" });
  }),

  "S8 only the end of a run that holds its thread bears a successor, and only there": checked(async ({ store }) => {
    const claim = await claimed(store);
    const successor = birthOf("r1.next", on);
    for (const entries of [[started(0)], [started(0), opened(ticketOf("r1", 1)), waiting], [said("one")]]) {
      await writesNothing(store, () =>
        throwsCode(store.commit(endOf(claim, successor, { entries })), "illegal-transition"),
      );
    }
    const elsewhere = [birthOf("r1.next", { thread: "other" }), birthOf("r1.next", { ...on, scope: scopeB })];
    for (const other of elsewhere) {
      await writesNothing(store, () => throwsCode(store.commit(endOf(claim, other)), "illegal-transition"));
    }
    await store.create(birthOf("r2", on));
    await store.post(cancelOf("r2"));
    const [queued] = (await claimAll(store)).filter(({ run }) => run === "r2");
    assert.ok(queued);
    const unfit = endOf(queued, successor, { expectedSeq: 2, entries: [ended] });
    await writesNothing(store, () => throwsCode(store.commit(unfit), "illegal-transition"));
    assert.equal((await store.commit(endOf(claim, successor))).kind, "committed");
  }),

  "a successor whose id is taken is not born, and its neighbours in the group are": checked(async ({ store }) => {
    const runs = ["a", "b", "c"];
    for (const run of runs) await store.create(birthOf(run, { thread: run }));
    await store.create(birthOf("taken", { agent: "bob" }));
    const claims = await claimAll(store);
    const next = (run: string): string => (run === "b" ? "taken" : `${run}.next`);
    const commits = claims.map((claim) => store.commit(endOf(claim, birthOf(next(claim.run), { thread: claim.run }))));
    const answers = await Promise.allSettled(commits);
    assert.deepEqual(
      answers.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    await throwsCode(commits[1] as Promise<unknown>, "run-exists");
    assert.equal(await headOf(store, keyOf("b")), 1);
    for (const run of ["a", "c"]) assert.equal((await threadOf(store, run)).current?.run, `${run}.next`);
  }),

  "a start key that another run has stays with it, and goes only with it": checked(async ({ store }) => {
    await store.create(birthOf("mine", { key: "k", agent: "bob" }));
    const claim = await claimed(store);
    const successor = birthOf("r1.next", { ...on, key: "k", requestHash: "other" });
    assert.equal((await store.commit(endOf(claim, successor))).kind, "committed");
    const held = { kind: "existing", run: "mine" };
    assert.deepEqual(await store.create(birthOf("x", { key: "k" })), held);
    await play(store, 1);
    await store.eraseRun(keyOf("r1.next"));
    assert.deepEqual(await store.create(birthOf("x", { key: "k" })), held);
    await play(store, 1, { agents: ["bob"] });
    await store.eraseRun(keyOf("mine"));
    assert.deepEqual(await store.create(birthOf("x", { key: "k" })), { kind: "created", queued: false });
  }),

  "a run that was asked to cancel takes no input, and no answer that stands for a start": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const ticket = ticketOf("r1", 1);
    const head = await write(store, await claimOne(store), {
      entries: [started(0), opened(ticket), waiting],
      after: 1,
    });
    await store.post(inputTo("r1", "i1"));
    await store.post(cancelOf("r1"));
    const ending = { kind: "refused", code: "run-ended" };
    const start = { key: "k", requestHash: "h" };
    assert.deepEqual(await store.post(inputTo("r1", "i2")), ending);
    assert.deepEqual(await store.post({ ...inputTo("r1", "i2"), start }), ending);
    assert.deepEqual(await store.post({ ...decisionOn(ticket, "d"), start }), ending);
    assert.equal(await headOf(store, keyOf("r1")), head + 2);
    assert.deepEqual(await store.post(inputTo("r1", "i1")), { kind: "posted", seq: head + 1, at: 1_000 });
    assert.deepEqual(await store.post(inputTo("r1", "i1", "k")), { kind: "already", seq: head + 1 });
    assert.equal((await store.post(decisionOn(ticket, "d"))).kind, "posted");
    assert.deepEqual(await store.create(birthOf("r2", { key: "k" })), { kind: "created", queued: false });
  }),
};

async function listed(store: Store, run: string): Promise<object> {
  const all = await store.runs({ scope: scopeA, order: "oldest", limit: 9 });
  return all.find((row) => row.run === run) ?? {};
}
