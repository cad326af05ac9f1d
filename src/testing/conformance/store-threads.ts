/** Checks of threads: birth, rows, pages, lineage, title and metadata. */
import assert from "node:assert/strict";
import type { RunId, ThreadId } from "../../domain/ids.ts";
import type { Store } from "../../ports/store.ts";
import type { ThreadList } from "../../ports/thread-store.ts";
import {
  birthOf,
  checked,
  claimAll,
  claimOne,
  ended,
  historyOf,
  keyOf,
  opened,
  play,
  rowOf,
  type StoreCheck,
  said,
  saidByInput,
  scopeA,
  scopeB,
  started,
  stepped,
  threadKey,
  threadOf,
  throwsCode,
  ticketOf,
  waiting,
  write,
} from "./store-fixtures.ts";

async function pageOf(store: Store, list: Partial<ThreadList>): Promise<readonly string[]> {
  const rows = await store.threads({ scope: scopeA, order: "newest", limit: 99, ...list });
  return rows.map((row) => row.thread);
}

async function createAll(store: Store, names: readonly string[], parent?: string): Promise<void> {
  for (const name of names) {
    const lineage = parent === undefined ? {} : { parent: parent as ThreadId };
    assert.deepEqual(await store.createThread({ ...threadKey(name), ...lineage }), { kind: "created" });
  }
}

export const threads: Record<string, StoreCheck> = {
  "a thread is there from createThread on, once": checked(async ({ store, clock }) => {
    const metadata = { tags: ["a", "b"], n: 1 };
    const wanted = { ...threadKey("t"), title: "Title", metadata };
    assert.deepEqual(await store.createThread(wanted), { kind: "created" });
    const { no, ...row } = await threadOf(store, "t");
    assert.ok(no > 0);
    const times = { createdAt: clock.now(), updatedAt: clock.now() };
    assert.deepEqual(row, { ...threadKey("t"), title: "Title", metadata, ...times, messages: 0, queued: 0 });
    assert.deepEqual(await store.createThread({ ...threadKey("t"), title: "Other" }), { kind: "exists" });
    assert.equal((await threadOf(store, "t")).title, "Title");
  }),

  "a thread is there from its first run on, and its row follows its runs": checked(async ({ store, clock }) => {
    assert.equal(await store.thread(threadKey("t")), undefined);
    for (const run of ["r1", "r2"]) {
      clock.advance(1);
      await store.create(birthOf(run, { thread: "t" }));
    }
    const { no: _no, ...row } = await threadOf(store, "t");
    assert.deepEqual(row, {
      ...{ ...threadKey("t"), metadata: {}, createdAt: 1_001, updatedAt: 1_002, messages: 0 },
      ...{ current: { run: "r1", status: "created" }, latest: "r2", queued: 1 },
    });
    assert.deepEqual(await store.createThread(threadKey("t")), { kind: "exists" });
    const claim = await claimOne(store);
    clock.advance(1);
    const head = await write(store, claim, { entries: [started(0), said("m1"), said("m2")], after: 1 });
    await write(store, claim, { entries: [said("m3"), waiting], after: head, position: 2 });
    const waits = await threadOf(store, "t");
    assert.deepEqual([waits.current?.status, waits.messages, waits.updatedAt], ["waiting", 3, 1_002]);
    clock.advance(1);
    await write(store, claim, { entries: [ended], after: head + 2, position: 3 });
    const after = await threadOf(store, "t");
    assert.deepEqual([after.current?.run, after.messages, after.queued, after.updatedAt], ["r2", 3, 0, 1_004]);
    await play(store, 2);
    const { current, latest, messages, queued } = await threadOf(store, "t");
    assert.deepEqual([current, latest, messages, queued], [undefined, "r2", 5, 0]);
  }),

  "H1 a thread is born with history: a run that has ended, whose messages it holds": checked(
    async ({ store, clock, reopen }) => {
      const key = threadKey("t");
      const history = historyOf("old", key, 3);
      assert.deepEqual(await store.createThread({ ...key, history }), { kind: "created" });
      const row = await threadOf(store, "t");
      assert.deepEqual([row.messages, row.current, row.latest, row.queued], [5, undefined, "old", 0]);
      const run = await rowOf(store, keyOf("old"));
      assert.deepEqual([run.status, run.startPosition, run.head, run.queued, run.epoch], ["done", 0, 8, false, 0]);
      const entries = await store.readRun({ ...keyOf("old"), after: 0, limit: 9 });
      const bodies = [history.birth.entry, ...history.rest];
      assert.deepEqual(
        entries,
        bodies.map((body, index) => ({ ...body, seq: index + 1, at: clock.now(), epoch: null })),
      );
      assert.deepEqual(await claimAll(store, { agents: ["import"] }), []);
      assert.deepEqual(await store.create(history.birth), { kind: "existing", run: "old" });
      await store.create(birthOf("r1", { thread: "t" }));
      const again = await reopen();
      const claim = await play(again, 1);
      assert.equal(claim.threadPosition, 5);
      const listed = await again.messages({ ...key, order: "oldest", limit: 9 });
      assert.deepEqual(
        listed.map(({ position, run: from, message }) => [position, from, message.id]),
        [
          ...["old-first", "old-second", "old-0", "old-1", "old-2"].map((id, n) => [n + 1, "old", id]),
          [6, "r1", "r1.1"],
        ],
      );
    },
  ),

  "history that cannot be is refused, and nothing of the thread is written": checked(async ({ store }) => {
    await store.create(birthOf("taken", { key: "used" }));
    const key = threadKey("t");
    const fine = historyOf("old", key);
    const head = await store.head();
    const wrong = [
      [{ ...fine, rest: [started(0)] }, "illegal-transition"],
      [{ ...fine, rest: [ended] }, "illegal-transition"],
      [{ ...fine, rest: [] }, "illegal-transition"],
      [{ ...fine, rest: [started(0), ended, stepped(1)] }, "illegal-transition"],
      [{ ...fine, rest: [started(0), opened(ticketOf("old", 1)), ended] }, "illegal-transition"],
      [{ ...fine, rest: [started(0), saidByInput("i", 1), ended] }, "illegal-transition"],
      [historyOf("old", threadKey("other")), "illegal-transition"],
      [historyOf("old", threadKey("t", scopeB)), "illegal-transition"],
      [{ ...fine, birth: { ...fine.birth, key: "used" } }, "start-key-conflict"],
      [historyOf("taken", key), "start-key-conflict"],
      [{ ...fine, birth: { ...historyOf("taken", key).birth, key: "free" } }, "run-exists"],
    ] as const;
    await store.create(birthOf("taken2", { key: "start-taken" }));
    for (const [history, code] of wrong) await throwsCode(store.createThread({ ...key, history }), code);
    assert.equal(await store.thread(key), undefined);
    assert.equal(await store.run(keyOf("old")), undefined);
    assert.equal(await store.head(), head + 1);
  }),

  "H4 a parent exists in the same scope and is not the thread itself": checked(async ({ store }) => {
    await store.createThread(threadKey("elsewhere", scopeB));
    const born = (name: string, parent: string): Promise<{ kind: string }> =>
      store.createThread({ ...threadKey(name), parent: parent as ThreadId });
    assert.deepEqual(await born("t", "t"), { kind: "cycle" });
    assert.deepEqual(await born("t", "none"), { kind: "parent-not-found" });
    assert.deepEqual(await born("t", "elsewhere"), { kind: "parent-not-found" });
    assert.equal(await store.thread(threadKey("t")), undefined);
    await store.create(birthOf("r1", { thread: "root" }));
    assert.deepEqual(await born("t", "root"), { kind: "created" });
    assert.equal((await threadOf(store, "t")).parent, "root");
    assert.deepEqual(await born("t", "t"), { kind: "exists" });
  }),

  "H2 pages of threads are by creation, both ways, and by parent": checked(async ({ store }) => {
    await createAll(store, ["a", "b"]);
    await createAll(store, ["b1", "b2"], "b");
    await store.create(birthOf("r1", { thread: "c" }));
    await createAll(store, ["a1"], "a");
    await createAll(store, ["b3"], "b");
    await store.createThread(threadKey("other", scopeB));
    const all = ["a", "b", "b1", "b2", "c", "a1", "b3"];
    assert.deepEqual(await pageOf(store, { order: "oldest" }), all);
    assert.deepEqual(await pageOf(store, {}), all.toReversed());
    assert.deepEqual(await pageOf(store, { parent: null, order: "oldest" }), ["a", "b", "c"]);
    assert.deepEqual(await pageOf(store, { parent: "b" as ThreadId }), ["b3", "b2", "b1"]);
    assert.deepEqual(await pageOf(store, { parent: "none" as ThreadId }), []);
    assert.deepEqual(await pageOf(store, { parent: "other" as ThreadId }), []);
    assert.deepEqual(await pageOf(store, { limit: 2 }), ["b3", "a1"]);
    const { no } = await threadOf(store, "b2");
    assert.deepEqual(await pageOf(store, { after: no, order: "oldest", limit: 2 }), ["c", "a1"]);
    assert.deepEqual(await pageOf(store, { after: no, order: "newest" }), ["b1", "b", "a"]);
    assert.deepEqual(await pageOf(store, { after: no, parent: "b" as ThreadId, order: "oldest" }), ["b3"]);
    assert.deepEqual(await pageOf(store, { after: no, parent: null }), ["b", "a"]);
  }),

  "H2 a walk over pages meets every thread once, whatever is created, changed or deleted meanwhile": checked(
    async ({ store }) => {
      await createAll(store, ["a", "b", "c", "d", "e"]);
      const met: string[] = [];
      let after: number | undefined;
      for (let page = 0; ; page += 1) {
        const place = after === undefined ? {} : { after };
        const rows = await store.threads({ scope: scopeA, order: "newest", limit: 2, ...place });
        if (rows.length === 0) break;
        met.push(...rows.map((row) => row.thread));
        after = rows.at(-1)?.no;
        await createAll(store, [`new${page}`]);
        await store.changeThread({ ...threadKey("a"), title: `${page}` });
        if (page === 0) await store.deleteThread({ ...threadKey("d"), children: "reject" });
      }
      assert.deepEqual(met, ["e", "d", "c", "b", "a"]);
    },
  ),

  "title and metadata are changed, each by itself; the title may go": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1", { thread: "t" }));
    const change = async (what: object): Promise<unknown[]> => {
      clock.advance(1);
      assert.equal(await store.changeThread({ ...threadKey("t"), ...what }), true);
      const { title, metadata, updatedAt } = await threadOf(store, "t");
      assert.equal(updatedAt, clock.now());
      return [title, metadata];
    };
    assert.deepEqual(await change({ metadata: { a: 1 } }), [undefined, { a: 1 }]);
    assert.deepEqual(await change({ title: "T" }), ["T", { a: 1 }]);
    assert.deepEqual(await change({ metadata: { b: [null] } }), ["T", { b: [null] }]);
    assert.deepEqual(await change({ title: null }), [undefined, { b: [null] }]);
    assert.deepEqual(await change({}), [undefined, { b: [null] }]);
    await store.createThread(threadKey("u"));
    await store.changeThread({ ...threadKey("u"), title: "U" });
    assert.deepEqual([(await threadOf(store, "u")).title, (await threadOf(store, "u")).metadata], ["U", {}]);
    assert.equal(await store.changeThread({ ...threadKey("none"), title: "x" }), false);
  }),

  "S11 a scope finds nothing of another's threads and lists, and changes nothing of them": checked(
    async ({ store }) => {
      await store.createThread({ ...threadKey("t"), history: historyOf("old", threadKey("t")) });
      const elsewhere = threadKey("t", scopeB);
      const list = { scope: scopeB, order: "newest", limit: 9 } as const;
      assert.equal(await store.thread(elsewhere), undefined);
      assert.deepEqual(await store.threads(list), []);
      assert.deepEqual(await store.threads({ ...list, parent: null }), []);
      assert.equal(await store.changeThread({ ...elsewhere, title: "x" }), false);
      assert.deepEqual(await store.messages({ ...elsewhere, order: "oldest", limit: 9 }), []);
      assert.deepEqual(await store.deleteThread({ ...elsewhere, children: "cascade" }), { kind: "not-found" });
      assert.deepEqual(await store.eraseRun(keyOf("old", scopeB)), { kind: "not-found" });
      assert.deepEqual(await store.runs(list), []);
      assert.deepEqual(await store.runs({ ...list, thread: "t" as ThreadId }), []);
      assert.equal(await store.countRuns({ scope: scopeB }), 0);
      const thread = "t" as ThreadId;
      assert.deepEqual(await store.readAll({ scope: scopeB, after: 0, limit: 9, thread }), []);
      assert.deepEqual(await store.readAll({ scope: scopeB, after: 0, limit: 9, agent: "import" }), []);
      assert.equal(await store.erasedUpTo(scopeB), 0);
      const start = { key: "start-old", requestHash: "h" };
      const fact = { type: "pause-requested", by: "ana" } as const;
      const answer = await store.post({ ...keyOf("old", scopeB), key: "k", fact, start });
      assert.deepEqual(answer, { kind: "refused", code: "run-not-found" });
      assert.equal((await rowOf(store, { scope: scopeA, run: "old" as RunId })).head, 5);
    },
  ),
};
