/** Checks of the state of threads (H6). */
import assert from "node:assert/strict";
import type { EntryBody } from "../../domain/entry.ts";
import { isHoldfastError } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Claim, Store } from "../../ports/store.ts";
import {
  birthOf,
  cancelOf,
  changed,
  checked,
  citing,
  claimAll,
  claimOne,
  ended,
  headOf,
  historyOf,
  inputTo,
  keyOf,
  opened,
  type StoreCheck,
  scopeA,
  scopeB,
  started,
  stepped,
  threadKey,
  throwsCode,
  ticketOf,
  write,
} from "./store-fixtures.ts";

/** As `key=value@version`, in the order they are read. */
async function stateOf(store: Store, thread: string, scope = scopeA): Promise<readonly string[]> {
  const slots = await store.threadState(threadKey(thread, scope));
  return slots.map(({ key, value, version }) => `${key}=${JSON.stringify(value)}@${version}`);
}

/** A run that holds its thread and has started; its head is 2. */
async function startedRun(store: Store, run: string, thread: string): Promise<Claim> {
  await store.create(birthOf(run, { thread }));
  const claim = await claimOne(store);
  await write(store, claim, { entries: [started(claim.threadPosition)], after: 1 });
  return claim;
}

/** A run that leaves the thread with these values and ends. */
async function leave(store: Store, run: string, left: { readonly thread: string; readonly value: JsonValue }) {
  await store.create(birthOf(run, { thread: left.thread }));
  await write(store, await claimOne(store), { entries: [started(0), changed("k", left.value), ended], after: 1 });
}

function offer(store: Store, claim: Claim, given: { readonly entries: readonly EntryBody[]; readonly after: number }) {
  const { scope, run, epoch } = claim;
  return store.commit({ scope, run, epoch, expectedSeq: given.after, entries: given.entries, position: 0 });
}

const exact: Record<string, JsonValue> = {
  ...{ null: null, false: false, zero: 0, fraction: 0.1, large: 9_007_199_254_740_991, empty: "" },
  ...{ list: [], deep: [{ a: [1, [2, { b: null }]] }], object: { constructor: 1, "a.b": { toString: 2 } } },
  unicode: "ü 漢字 😀 \u0000 \u2028 \ud800 \uffff 'quoted' \"twice\" \\",
  constructor: "a name that every object has",
};

export const state: Record<string, StoreCheck> = {
  "H6 state of the thread is read by key as it was last written; that of the run has no row": checked(
    async ({ store, reopen }) => {
      const claim = await startedRun(store, "r1", "t");
      assert.deepEqual(await stateOf(store, "t"), []);
      const entries = [changed("b", 1), changed("a", { x: 1 }), changed("B", 1), changed("own", 1, { scope: "run" })];
      let head = await write(store, claim, { entries, after: 2 });
      assert.deepEqual(await stateOf(store, "t"), ["B=1@1", 'a={"x":1}@1', "b=1@1"]);
      head = await write(store, claim, { entries: [changed("b", [2], { version: 2 })], after: head });
      await write(store, claim, { entries: [changed("a", 5, { version: 3 }), changed("c", "new")], after: head });
      const expected = ["B=1@1", "a=5@3", "b=[2]@2", 'c="new"@1'];
      assert.deepEqual(await stateOf(store, "t"), expected);
      assert.deepEqual(await stateOf(await reopen(), "t"), expected);
    },
  ),

  "H6 of several changes of a key in one commit the last one counts": checked(async ({ store }) => {
    const claim = await startedRun(store, "r1", "t");
    const own = changed("k", "own", { scope: "run" });
    const entries = [changed("k", 1), changed("k", 2, { version: 9 }), stepped(1), changed("k", 3), own];
    await write(store, claim, { entries, after: 2 });
    assert.deepEqual(await stateOf(store, "t"), ["k=3@1"]);
  }),

  "H6 a commit that is fenced, behind or ahead changes no state": checked(async ({ store }) => {
    const claim = await startedRun(store, "r1", "t");
    await write(store, claim, { entries: [changed("k", "old")], after: 2 });
    await store.post(inputTo("r1", "i1"));
    const entries = [changed("k", "new"), changed("other", 1)];
    const fenced = await offer(store, { ...claim, epoch: claim.epoch + 1 }, { entries, after: 4 });
    const behind = await offer(store, claim, { entries, after: 3 });
    assert.deepEqual([fenced.kind, behind.kind], ["fenced", "behind"]);
    await throwsCode(offer(store, claim, { entries, after: 5 }), "journal-regressed");
    assert.deepEqual(await stateOf(store, "t"), ['k="old"@1']);
    assert.equal((await offer(store, claim, { entries, after: 4 })).kind, "committed");
    assert.deepEqual(await stateOf(store, "t"), ['k="new"@1', "other=1@1"]);
  }),

  "H6 a commit that is refused or breaks half way changes no state, and none comes after the end": checked(
    async ({ store }) => {
      const claim = await startedRun(store, "r1", "t");
      const entries = [changed("k", "old"), opened(ticketOf("r1", 1))];
      const head = await write(store, claim, { entries, after: 2 });
      const again = [changed("k", "new"), opened(ticketOf("r1", 1))];
      await throwsCode(offer(store, claim, { entries: again, after: head }), "illegal-transition");
      const { scope, run, epoch } = claim;
      const lost = [changed("k", "new"), citing({ hash: "no such content" })];
      await assert.rejects(store.commit({ scope, run, epoch, expectedSeq: head, position: 0, entries: lost }));
      assert.deepEqual([await stateOf(store, "t"), await headOf(store, claim)], [['k="old"@1'], head]);
      const end = await write(store, claim, { entries: [changed("k", "last"), ended], after: head });
      await throwsCode(offer(store, claim, { entries: [changed("k", "late")], after: end }), "illegal-transition");
      assert.deepEqual(await stateOf(store, "t"), ['k="last"@1']);
    },
  ),

  "H6 a change of the thread's state without its value is refused whole": checked(async ({ store }) => {
    const claim = await startedRun(store, "r1", "t");
    const change = { merge: "sum", initial: 0, operand: 1 } as const;
    const sum = { type: "state-changed", key: "k", version: 1, by: "plugin", change } as const;
    const entries = [changed("a", 1), { ...sum, scope: "thread" as const }];
    await throwsCode(offer(store, claim, { entries, after: 2 }), "illegal-transition");
    assert.deepEqual([await stateOf(store, "t"), await headOf(store, claim)], [[], 2]);
    await write(store, claim, { entries: [changed("a", 1), { ...sum, scope: "run" }], after: 2 });
    assert.deepEqual(await stateOf(store, "t"), ["a=1@1"]);
  }),

  "H6 S9 members of a group that are refused change no state and fail no neighbour": checked(async ({ store }) => {
    const runs = Array.from({ length: 12 }, (_, n) => `r${n}`);
    await Promise.all(runs.map((run) => store.create(birthOf(run))));
    const claims = await claimAll(store);
    const taken = await Promise.allSettled(
      claims.map((claim, n) => {
        const ticket = n % 6 === 5 ? [opened(ticketOf("r0", 1)), opened(ticketOf("r0", 1))] : [];
        const entries = [started(0), changed("k", claim.run), ...ticket];
        return offer(store, n % 4 === 0 ? { ...claim, epoch: 7 } : claim, { entries, after: n % 4 === 1 ? 0 : 1 });
      }),
    );
    for (const [n, { run, thread }] of claims.entries()) {
      const answer = taken[n];
      const isTaken = answer?.status === "fulfilled" && answer.value.kind === "committed";
      assert.equal(isTaken, n % 4 > 1 && n % 6 !== 5, `member ${n}`);
      assert.deepEqual(await stateOf(store, thread), isTaken ? [`k="${run}"@1`] : [], `thread of member ${n}`);
    }
  }),

  "H6 only the thread's active run changes its state": checked(async ({ store }) => {
    for (const run of ["r1", "r2"]) await store.create(birthOf(run, { thread: "t" }));
    const first = await claimOne(store);
    await store.post(cancelOf("r2"));
    const queued = await claimOne(store);
    const entries = [changed("k", "r2"), ended];
    await throwsCode(offer(store, queued, { entries, after: 2 }), "illegal-transition");
    assert.deepEqual([await stateOf(store, "t"), await headOf(store, queued)], [[], 2]);
    await write(store, first, { entries: [started(0), changed("k", "r1"), changed("j", "r1"), ended], after: 1 });
    await write(store, queued, { entries, after: 2 });
    assert.deepEqual(await stateOf(store, "t"), ['j="r1"@1', 'k="r2"@1']);
  }),

  "H6 runs of a thread that follow each other at once change its state in their order": checked(async ({ store }) => {
    for (const run of ["r1", "r2"]) await store.create(birthOf(run, { thread: "t" }));
    const first = await claimOne(store);
    await store.post(cancelOf("r2"));
    const second = await claimOne(store);
    const answers = await Promise.all([
      offer(store, first, { entries: [started(0), changed("k", "r1"), changed("j", "r1"), ended], after: 1 }),
      offer(store, second, { entries: [changed("k", "r2"), ended], after: 2 }),
    ]);
    assert.deepEqual(
      answers.map(({ kind }) => kind),
      ["committed", "committed"],
    );
    assert.deepEqual(await stateOf(store, "t"), ['j="r1"@1', 'k="r2"@1']);
  }),

  "H6 S8 the state that a run leaves with its end is that of its successor's thread": checked(async ({ store }) => {
    const { scope, run, epoch } = await startedRun(store, "r1", "t");
    const successor = birthOf("r2", { thread: "t" });
    const entries = [changed("k", 1), ended];
    await store.commit({ scope, run, epoch, expectedSeq: 2, entries, position: 0, successor });
    const next = await claimOne(store);
    assert.deepEqual([next.run, await stateOf(store, "t")], ["r2", ["k=1@1"]]);
    await write(store, next, { entries: [started(0), changed("k", 2)], after: 1 });
    assert.deepEqual(await stateOf(store, "t"), ["k=2@1"]);
  }),

  "H6 S12 state comes with the entries of a transaction, or with nothing": checked(async ({ store }) => {
    const { scope, run, epoch } = await startedRun(store, "r1", "t");
    const transacted = (expectedSeq: number, entries: readonly EntryBody[]) =>
      store.commit({ scope, run, epoch, expectedSeq, position: 0, entries: [], transaction: () => entries });
    const answer = await transacted(2, [changed("k", 1)]).catch(unlessNotTransactional);
    assert.deepEqual(await stateOf(store, "t"), answer ? ["k=1@1"] : []);
    if (!answer) return;
    const twice = [changed("k", 2), opened(ticketOf("r1", 1)), opened(ticketOf("r1", 1))];
    await throwsCode(transacted(3, twice), "illegal-transition");
    assert.deepEqual(await stateOf(store, "t"), ["k=1@1"]);
  }),

  "H6 S11 other threads and scopes, and threads that are not there, have none of it": checked(async ({ store }) => {
    await leave(store, "r1", { thread: "t", value: 1 });
    await store.create(birthOf("r1", { thread: "t", scope: scopeB }));
    await store.createThread(threadKey("u"));
    assert.deepEqual(await stateOf(store, "t", scopeB), []);
    for (const other of ["u", "none", "T", "t "]) assert.deepEqual(await stateOf(store, other), []);
    const theirs = await claimOne(store, { scope: scopeB });
    await write(store, theirs, { entries: [started(0), changed("k", 2), ended], after: 1 });
    assert.deepEqual([await stateOf(store, "t"), await stateOf(store, "t", scopeB)], [["k=1@1"], ["k=2@1"]]);
    await store.deleteThread({ ...threadKey("t", scopeB), children: "reject" });
    assert.deepEqual([await stateOf(store, "t"), await stateOf(store, "t", scopeB)], [["k=1@1"], []]);
  }),

  "H6 it stays when the run that wrote it is erased or pruned, and the next run goes on with it": checked(
    async ({ store, clock, reopen }) => {
      await leave(store, "r1", { thread: "t", value: 1 });
      await store.eraseRun(keyOf("r1"));
      assert.deepEqual(await stateOf(store, "t"), ["k=1@1"]);
      await leave(store, "r2", { thread: "t", value: 2 });
      clock.advance(10);
      assert.deepEqual(await store.prune({ scope: scopeA, ended: { agoMs: 1 }, limit: 9 }), ["r2"]);
      assert.deepEqual(await stateOf(await reopen(), "t"), ["k=2@1"]);
      const claim = await startedRun(store, "r3", "t");
      await write(store, claim, { entries: [changed("j", 3)], after: 2 });
      assert.deepEqual(await stateOf(store, "t"), ["j=3@1", "k=2@1"]);
    },
  ),

  "H3 H6 it goes with its thread, and a thread of the same id begins without": checked(async ({ store, reopen }) => {
    const remove = (thread: string, children: "reject" | "detach" | "cascade") =>
      store.deleteThread({ ...threadKey(thread), children });
    await store.createThread(threadKey("t"));
    for (const child of ["c1", "c2"]) await store.createThread({ ...threadKey(child), parent: threadKey("t").thread });
    for (const thread of ["t", "c1", "c2"]) await leave(store, `run-${thread}`, { thread, value: thread });
    const again = await reopen();
    assert.equal((await remove("t", "reject")).kind, "has-children");
    assert.deepEqual(await stateOf(again, "t"), ['k="t"@1']);
    await remove("c1", "reject");
    assert.deepEqual([await stateOf(again, "c1"), await stateOf(again, "c2")], [[], ['k="c2"@1']]);
    await remove("t", "cascade");
    assert.deepEqual([await stateOf(again, "t"), await stateOf(again, "c2")], [[], []]);
    await store.createThread(threadKey("t"));
    await store.create(birthOf("anew", { thread: "c2" }));
    assert.deepEqual([await stateOf(again, "t"), await stateOf(again, "c2")], [[], []]);
  }),

  "H6 values are kept exactly, also where they are large or hold what a text column may not": checked(
    async ({ store, reopen }) => {
      const values: Record<string, JsonValue> = { ...exact, big: "漢x".repeat(16 * 1024), wide: manyNumbers() };
      const claim = await startedRun(store, "r1", "t");
      const entries = Object.entries(values).map(([key, value]) => changed(key, value));
      await write(store, claim, { entries, after: 2 });
      for (const open of [store, await reopen()]) {
        const slots = await open.threadState(threadKey("t"));
        assert.deepEqual(
          slots.map(({ key }) => key),
          Object.keys(values).sort(),
        );
        for (const { key, value } of slots) assert.deepEqual(value, values[key]);
      }
      await write(store, claim, { entries: [changed("big", "small")], after: 2 + entries.length });
      const [big] = (await store.threadState(threadKey("t"))).filter(({ key }) => key === "big");
      assert.deepEqual(big, { key: "big", version: 1, value: "small" });
    },
  ),

  "imported history brings messages, not state": checked(async ({ store }) => {
    const history = historyOf("old", threadKey("t"));
    const rest = history.rest.toSpliced(1, 0, changed("k", 1));
    const imported = store.createThread({ ...threadKey("t"), history: { ...history, rest } });
    await throwsCode(imported, "illegal-transition");
    assert.equal(await store.thread(threadKey("t")), undefined);
  }),
};

/** About 64 KiB of JSON. */
function manyNumbers(): JsonValue {
  return Array.from({ length: 9_000 }, (_, n) => n + 100_000);
}

function unlessNotTransactional(cause: unknown): undefined {
  if (!isHoldfastError(cause, "not-transactional")) throw cause;
}
