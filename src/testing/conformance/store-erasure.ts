/** Checks of deletion and erasure (L10, H3). */
import assert from "node:assert/strict";
import type { ThreadId } from "../../domain/ids.ts";
import type { ReadRun, Store } from "../../ports/store.ts";
import type { DeleteThread } from "../../ports/thread-store.ts";
import {
  birthOf,
  checked,
  claimOne,
  decisionOn,
  ended,
  historyOf,
  inputTo,
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
  threadKey,
  threadOf,
  throwsCode,
  ticketOf,
  write,
} from "./store-fixtures.ts";

/** r1 on thread t has something of everything, and is done. */
async function fullRun(store: Store): Promise<void> {
  const ticket = ticketOf("r1", 1);
  await store.create(birthOf("r1", { thread: "t" }));
  const claim = await claimOne(store);
  await write(store, claim, { entries: [started(0), said("m1"), opened(ticket)], after: 1 });
  await store.post(decisionOn(ticket, "decide"));
  const start = { key: "stood-for", requestHash: "h" };
  await store.post({ ...inputTo("r1", "i1"), start });
  await store.saveSnapshot(keyOf("r1"), { seq: 5, foldVersion: 1, state: "five" });
  const entries = [saidByInput("i1", 6), opened(ticketOf("r1", 2)), ended];
  await write(store, claim, { entries, after: 6, position: 1 });
  await store.addEvidence({ ...keyOf("r1"), kind: "late-result", body: 1 });
}

async function traces(store: Store): Promise<unknown> {
  const key = keyOf("r1");
  return {
    run: await store.run(key),
    entries: await store.readRun({ ...key, after: 0, limit: 99 }),
    commits: (await store.readAll({ scope: scopeA, after: 0, limit: 99 })).filter((row) => row.run === "r1"),
    tickets: await store.tickets({ scope: scopeA, run: key.run, limit: 9 }),
    open: await store.tickets({ scope: scopeA, status: "open", limit: 9 }),
    messages: (await store.messages({ ...threadKey("t"), order: "oldest", limit: 9 })).filter((m) => m.run === "r1"),
    window: (await store.readThread({ ...threadKey("t"), limit: 9 })).filter((m) => m.id === "m1" || m.id === "i1"),
    listed: (await store.runs({ scope: scopeA, order: "oldest", limit: 9 })).filter((row) => row.run === "r1"),
    snapshot: await store.snapshot(key),
    evidence: await store.evidence(key),
    post: await store.post({ ...decisionOn(ticketOf("r1", 1), "decide") }),
  };
}

const nothing = {
  ...{ run: undefined, entries: [], commits: [], tickets: [], open: [], messages: [], window: [], listed: [] },
  ...{ snapshot: undefined, evidence: [], post: { kind: "refused", code: "run-not-found" } },
};

async function familyOf(store: Store): Promise<void> {
  for (const [name, parent] of [["t"], ["c1", "t"], ["c2", "t"], ["g1", "c1"], ["other"]] as const) {
    await store.createThread({ ...threadKey(name), ...(parent === undefined ? {} : { parent: parent as ThreadId }) });
    await store.create(birthOf(`run-${name}`, { thread: name }));
    await play(store, 1);
  }
}

function fromStart(run: string): ReadRun {
  return { ...keyOf(run), after: 0, limit: 9 };
}

function deletionOf(thread: string, children: DeleteThread["children"] = "reject"): DeleteThread {
  return { ...threadKey(thread), children };
}

export const erasure: Record<string, StoreCheck> = {
  "H3 an erased run leaves nothing behind, and its keys and id may be used again": checked(
    async ({ store, reopen }) => {
      await fullRun(store);
      assert.notDeepEqual(await traces(store), nothing);
      assert.deepEqual(await store.eraseRun(keyOf("r1")), { kind: "deleted", threads: 0, runs: 1 });
      assert.deepEqual(await traces(store), nothing);
      assert.deepEqual(await store.eraseRun(keyOf("r1")), { kind: "not-found" });
      await throwsCode(store.addEvidence({ ...keyOf("r1"), kind: "late-result", body: 1 }), "run-not-found");
      const row = await threadOf(store, "t");
      assert.deepEqual([row.messages, row.latest, row.current], [0, undefined, undefined]);
      const again = await reopen();
      assert.deepEqual(await traces(again), nothing);
      assert.deepEqual(await again.create(birthOf("x", { key: "start-r1" })), { kind: "created", queued: false });
      assert.deepEqual(await again.create(birthOf("y", { key: "stood-for" })), { kind: "created", queued: false });
      assert.deepEqual(await again.create(birthOf("r1", { thread: "t", key: "new" })), {
        kind: "created",
        queued: false,
      });
      assert.deepEqual(
        (await again.readRun({ ...keyOf("r1"), after: 0, limit: 9 })).map((entry) => entry.seq),
        [1],
      );
    },
  ),

  "H3 a deleted thread leaves nothing behind, title and all": checked(async ({ store }) => {
    await fullRun(store);
    await store.changeThread({ ...threadKey("t"), title: "T", metadata: { a: 1 } });
    await store.createThread({ ...threadKey("u"), history: historyOf("old", threadKey("u")) });
    assert.deepEqual(await store.deleteThread(deletionOf("t")), { kind: "deleted", threads: 1, runs: 1 });
    assert.equal(await store.thread(threadKey("t")), undefined);
    assert.deepEqual(await traces(store), nothing);
    assert.deepEqual(await store.deleteThread(deletionOf("t")), { kind: "not-found" });
    assert.deepEqual(await store.createThread(threadKey("t")), { kind: "created" });
    const { title, metadata, messages } = await threadOf(store, "t");
    assert.deepEqual([title, metadata, messages], [undefined, {}, 0]);
    assert.equal((await threadOf(store, "u")).messages, 2);
  }),

  "H3 nothing that is not done is erased": checked(async ({ store }) => {
    await store.create(birthOf("r1", { thread: "t" }));
    await store.create(birthOf("r2", { thread: "t" }));
    const busy = (run: string): unknown => ({ kind: "busy", run });
    for (const [run, thread] of [
      ["r1", "r1"],
      ["r2", "r1"],
    ] as const) {
      assert.deepEqual(await store.eraseRun(keyOf(run)), busy(run));
      assert.deepEqual(await store.deleteThread(deletionOf("t")), busy(thread));
    }
    await play(store, 1);
    const before = await store.readAll({ scope: scopeA, after: 0, limit: 9 });
    assert.deepEqual(await store.deleteThread(deletionOf("t")), busy("r2"));
    assert.deepEqual(await store.readAll({ scope: scopeA, after: 0, limit: 9 }), before);
    assert.deepEqual(await store.eraseRun(keyOf("r1")), { kind: "deleted", threads: 0, runs: 1 });
    assert.equal((await claimOne(store)).run, "r2");
  }),

  "children: reject counts them, detach lets them go, and nothing else is touched": checked(async ({ store }) => {
    await familyOf(store);
    assert.deepEqual(await store.deleteThread(deletionOf("t")), { kind: "has-children", children: 2 });
    assert.equal((await threadOf(store, "t")).messages, 1);
    assert.deepEqual(await store.deleteThread(deletionOf("t", "detach")), { kind: "deleted", threads: 1, runs: 1 });
    for (const name of ["c1", "c2"]) assert.equal((await threadOf(store, name)).parent, undefined);
    assert.equal((await threadOf(store, "g1")).parent, "c1");
    const roots = await store.threads({ scope: scopeA, parent: null, order: "oldest", limit: 9 });
    assert.deepEqual(
      roots.map((row) => row.thread),
      ["c1", "c2", "other"],
    );
    assert.equal(await store.countRuns({ scope: scopeA }), 4);
  }),

  "children: cascade takes all descendants, or none when one of them is busy": checked(async ({ store }) => {
    await familyOf(store);
    await store.create(birthOf("late", { thread: "g1" }));
    assert.deepEqual(await store.deleteThread(deletionOf("t", "cascade")), { kind: "busy", run: "late" });
    assert.equal(await store.countRuns({ scope: scopeA }), 6);
    assert.deepEqual(await store.deleteThread(deletionOf("c2", "cascade")), { kind: "deleted", threads: 1, runs: 1 });
    await play(store, 1);
    assert.deepEqual(await store.deleteThread(deletionOf("t", "cascade")), { kind: "deleted", threads: 3, runs: 4 });
    const left = await store.threads({ scope: scopeA, order: "oldest", limit: 9 });
    assert.deepEqual(
      left.map((row) => row.thread),
      ["other"],
    );
    assert.equal(await store.countRuns({ scope: scopeA }), 1);
  }),

  "H3 numbers and positions are not used again, also after a restart": checked(async ({ store, reopen }) => {
    let last = { run: 0, thread: 0, head: 0 };
    let open = store;
    for (let round = 0; round < 3; round += 1) {
      const birth = birthOf(`r${round}`, { thread: `t${round}` });
      await open.create(birth);
      const [run] = await open.runs({ scope: scopeA, order: "newest", limit: 1 });
      const thread = await threadOf(open, `t${round}`);
      const [row] = await open.readAll({ scope: scopeA, after: 0, limit: 1 });
      const [no, position] = [run?.no ?? 0, row?.position ?? 0];
      assert.ok(no > last.run && thread.no > last.thread && position > last.head, `round ${round} goes on`);
      await play(open, 1);
      const head = await open.head();
      await open.deleteThread(deletionOf(`t${round}`));
      assert.ok((await open.head()) > head, "an erasure is seen in the head");
      last = { run: no, thread: thread.no, head: await open.head() };
      if (round === 1) {
        await open.close();
        open = await reopen();
        assert.equal(await open.head(), last.head);
      }
    }
    await open.createThread(threadKey("alone"));
    const { no } = await threadOf(open, "alone");
    await open.deleteThread(deletionOf("alone"));
    await open.createThread(threadKey("alone"));
    assert.ok((await threadOf(open, "alone")).no > no);
  }),

  "H3 places in a thread are not used again: later messages stand after the erased": checked(async ({ store }) => {
    for (const [run, said] of [
      ["r1", 2],
      ["r2", 3],
      ["r3", 1],
    ] as const) {
      await store.create(birthOf(run, { thread: "t" }));
      await play(store, said);
    }
    const places = async (): Promise<readonly number[]> =>
      (await store.messages({ ...threadKey("t"), order: "oldest", limit: 9 })).map((placed) => placed.position);
    await store.eraseRun(keyOf("r2"));
    assert.deepEqual([await places(), (await threadOf(store, "t")).messages], [[1, 2, 6], 3]);
    await store.eraseRun(keyOf("r3"));
    assert.deepEqual([await places(), (await threadOf(store, "t")).messages], [[1, 2], 2]);
    await store.create(birthOf("r4", { thread: "t" }));
    assert.equal((await play(store, 1)).threadPosition, 6);
    assert.deepEqual([await places(), (await threadOf(store, "t")).messages], [[1, 2, 7], 3]);
    assert.equal((await threadOf(store, "t")).latest, "r4");
  }),

  "L10 erasedUpTo is the newest position that was taken away, per scope": checked(async ({ store, reopen }) => {
    for (const run of ["r1", "r2", "r3"]) {
      await store.create(birthOf(run));
      await play(store, 1);
    }
    const positions = (await store.readAll({ scope: scopeA, after: 0, limit: 9 })).map((row) => row.position);
    assert.equal(await store.erasedUpTo(scopeA), 0);
    await store.eraseRun(keyOf("r2"));
    assert.equal(await store.erasedUpTo(scopeA), positions[3]);
    await store.eraseRun(keyOf("r1"));
    assert.equal(await store.erasedUpTo(scopeA), positions[3]);
    assert.equal(await store.erasedUpTo(scopeB), 0);
    await store.createThread(threadKey("empty"));
    await store.deleteThread(deletionOf("empty"));
    assert.equal(await store.erasedUpTo(scopeA), positions[3]);
    const again = await reopen();
    assert.equal(await again.erasedUpTo(scopeA), positions[3]);
    const left = await again.readAll({ scope: scopeA, after: positions[3] ?? 0, limit: 9 });
    assert.deepEqual(
      left.map((row) => [row.run, row.position]),
      [
        ["r3", positions[4]],
        ["r3", positions[5]],
      ],
    );
  }),

  "an erased run is erased for everyone who has the store open": checked(async ({ store, reopen }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    const late = { ...keyOf("r1"), epoch: claim.epoch, expectedSeq: 2, entries: [ended], position: 0 };
    const others = [await reopen(), await reopen(), await reopen()] as const;
    for (const other of others) assert.equal((await other.readRun(fromStart("r1"))).length, 1);
    await write(store, claim, { entries: [ended], after: 1 });
    await store.eraseRun(keyOf("r1"));
    assert.deepEqual(await others[0].commit(late), { kind: "fenced" });
    assert.deepEqual(await others[1].release(late), { kind: "fenced" });
    assert.deepEqual(await others[2].readRun(fromStart("r1")), []);
  }),

  "the id of an erased run may begin anew for everyone who has the store open": checked(async ({ store, reopen }) => {
    await store.create(birthOf("r1"));
    const others = [await reopen(), await reopen(), await reopen()] as const;
    for (const other of others) assert.equal((await other.readRun(fromStart("r1"))).length, 1);
    await play(store, 1);
    await store.eraseRun(keyOf("r1"));
    await store.create(birthOf("r1"));
    const anew = await claimOne(store);
    assert.deepEqual(
      (await others[0].readRun(fromStart("r1"))).map((entry) => entry.type),
      ["run-created"],
    );
    const head = await write(others[1], anew, { entries: [started(0)], after: 1 });
    const released = await others[2].release({ ...keyOf("r1"), epoch: anew.epoch, expectedSeq: head });
    assert.equal(released.kind, "committed");
    assert.equal((await rowOf(store, keyOf("r1"))).leaseUntil, undefined);
  }),
};
