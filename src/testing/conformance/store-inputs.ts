/** Checks of posts that stand for a start, and of inputs that are edited. */
import assert from "node:assert/strict";
import type { InputId } from "../../domain/ids.ts";
import { inboxLimit, type Post } from "../../ports/store.ts";
import {
  birthOf,
  cancelOf,
  checked,
  claimOne,
  decisionOn,
  ended,
  headOf,
  inputTo,
  keyOf,
  opened,
  type StoreCheck,
  saidByInput,
  started,
  throwsCode,
  ticketOf,
  waiting,
  withdrawalOf,
  write,
} from "./store-fixtures.ts";

function refused(code: string): unknown {
  return { kind: "refused", code };
}

function editOf(run: string, input: string, replaces: string): Post {
  const post = inputTo(run, input);
  if (post.fact.type !== "input-received") throw new Error("inputTo makes inputs");
  return { ...post, fact: { ...post.fact, replaces: replaces as InputId } };
}

export const inputs: Record<string, StoreCheck> = {
  "S6 a post that stands for a start records the start key with it": checked(async ({ store }) => {
    await store.create(birthOf("r1", { thread: "t" }));
    const start = { key: "k", requestHash: "h" };
    assert.deepEqual(await store.post({ ...inputTo("r1", "i1"), start }), { kind: "posted", seq: 2, at: 1_000 });
    const same = { kind: "started", run: "r1", same: true };
    assert.deepEqual(await store.post({ ...inputTo("r1", "i1"), start }), same);
    assert.deepEqual(await store.post({ ...inputTo("r1", "i2"), start }), same);
    const other = { ...start, requestHash: "other" };
    assert.deepEqual(await store.post({ ...inputTo("r1", "i2"), start: other }), { ...same, same: false });
    assert.deepEqual(await store.post({ ...inputTo("none", "i2"), start }), same);
    assert.deepEqual(await store.create(birthOf("r2", { key: "k" })), { kind: "existing", run: "r1" });
    assert.deepEqual(await store.create(birthOf("r2", { key: "k", requestHash: "x" })), {
      kind: "conflict",
      run: "r1",
    });
    assert.equal(await headOf(store, keyOf("r1")), 2);
  }),

  "S6 a start key of a birth answers the post, and nothing is written": checked(async ({ store }) => {
    await store.create(birthOf("r1", { key: "k" }));
    await store.create(birthOf("r2", { agent: "bob" }));
    const start = { key: "k", requestHash: "h" };
    const ticket = ticketOf("r2", 1);
    const claim = await claimOne(store, { agents: ["bob"] });
    await write(store, claim, { entries: [started(0), opened(ticket), waiting], after: 1 });
    assert.deepEqual(await store.post({ ...decisionOn(ticket, "p"), start }), {
      kind: "started",
      run: "r1",
      same: true,
    });
    assert.equal(await headOf(store, keyOf("r2")), 4);
    const answer = await store.post({ ...decisionOn(ticket, "p"), start: { ...start, key: "k2" } });
    assert.equal(answer.kind, "posted");
    assert.deepEqual(await store.create(birthOf("r3", { key: "k2" })), { kind: "existing", run: "r2" });
  }),

  "a post that is not accepted records no start key": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const start = { key: "k", requestHash: "h" };
    await store.post(cancelOf("r1"));
    assert.equal((await store.post({ ...cancelOf("r1", "again"), start })).kind, "already");
    assert.deepEqual(await store.post({ ...withdrawalOf("r1", "none"), start }), refused("input-not-found"));
    await write(store, await claimOne(store), { entries: [ended], after: 2 });
    assert.deepEqual(await store.post({ ...inputTo("r1", "i1"), start }), refused("run-ended"));
    assert.deepEqual(await store.post({ ...inputTo("none", "i1"), start }), refused("run-not-found"));
    assert.deepEqual(await store.create(birthOf("r2", { key: "k" })), { kind: "created", queued: false });
  }),

  "S6 of a hundred posts that stand for one start one is written": checked(async ({ store }) => {
    for (const run of ["r1", "r2"]) await store.create(birthOf(run));
    const start = { key: "k", requestHash: "h" };
    const all = Array.from({ length: 100 }, (_, n) => store.post({ ...inputTo(n % 2 ? "r1" : "r2", `i${n}`), start }));
    const kinds = (await Promise.all(all)).map((answer) => answer.kind);
    assert.deepEqual([kinds.filter((kind) => kind === "posted").length, new Set(kinds).size], [1, 2]);
    assert.equal((await headOf(store, keyOf("r1"))) + (await headOf(store, keyOf("r2"))), 3);
  }),

  "an edit takes the place of an unread input, once": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    assert.deepEqual(await store.post(editOf("r1", "b", "a")), refused("input-not-found"));
    await store.post(inputTo("r1", "a"));
    assert.deepEqual(await store.post(editOf("r1", "b", "a")), { kind: "posted", seq: 3, at: 1_000 });
    const [, edit] = await store.readRun({ ...keyOf("r1"), after: 1, limit: 9 });
    assert.equal(edit?.type === "input-received" && edit.replaces, "a");
    assert.deepEqual(await store.post(editOf("r1", "c", "a")), refused("input-not-found"));
    assert.deepEqual(await store.post(withdrawalOf("r1", "a")), refused("input-not-found"));
    const taken = { ...keyOf("r1"), epoch: claim.epoch, expectedSeq: 3, position: 0 };
    await throwsCode(store.commit({ ...taken, entries: [started(0), saidByInput("a", 2)] }), "illegal-transition");
    await write(store, claim, { entries: [started(0), saidByInput("b", 3)], after: 3 });
    assert.deepEqual(await store.post(editOf("r1", "d", "b")), refused("input-taken"));
    await store.post(inputTo("r1", "e"));
    await store.post(withdrawalOf("r1", "e"));
    assert.deepEqual(await store.post(editOf("r1", "f", "e")), refused("input-not-found"));
    const head = await headOf(store, keyOf("r1"));
    assert.deepEqual(await store.post({ ...editOf("r1", "b", "none"), key: "k" }), { kind: "already", seq: 3 });
    assert.equal(await headOf(store, keyOf("r1")), head);
  }),

  "an edit needs no room in a full inbox, and makes none": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    await Promise.all(Array.from({ length: inboxLimit }, (_, n) => store.post(inputTo("r1", `i${n}`))));
    assert.equal((await store.post(editOf("r1", "edit", "i0"))).kind, "posted");
    assert.deepEqual(await store.post(inputTo("r1", "more")), refused("inbox-full"));
    const entries = [started(0), saidByInput("edit", inboxLimit + 2)];
    await write(store, claim, { entries, after: inboxLimit + 2 });
    assert.equal((await store.post(inputTo("r1", "more"))).kind, "posted");
    assert.deepEqual(await store.post(inputTo("r1", "another")), refused("inbox-full"));
  }),
};
