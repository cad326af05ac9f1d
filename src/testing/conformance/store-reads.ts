/** Checks of what is read back: journal, threads, tickets, snapshots, evidence. */
import assert from "node:assert/strict";
import type { CallId, RunId, ThreadId } from "../../domain/ids.ts";
import type { Store, TicketFilter } from "../../ports/store.ts";
import {
  birthOf,
  cancelOf,
  checked,
  claimOne,
  decisionOn,
  ended,
  inputTo,
  keyOf,
  opened,
  type StoreCheck,
  said,
  saidAtBirth,
  saidByInput,
  scopeA,
  scopeB,
  started,
  stepped,
  throwsCode,
  ticketOf,
  write,
} from "./store-fixtures.ts";

const thread = "t" as ThreadId;

async function messageIds(store: Store, limit: number): Promise<readonly string[]> {
  return (await store.readThread({ scope: scopeA, thread, limit })).map((message) => message.id);
}

export const reads: Record<string, StoreCheck> = {
  "readRun answers whole commits after a seq, and the rest of one begun before it": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const claim = await claimOne(store);
    await write(store, claim, { entries: [started(0), stepped(1), stepped(2)], after: 1 });
    await write(store, claim, { entries: [stepped(3), stepped(4)], after: 4 });
    const seqs = async (after: number, limit: number): Promise<readonly number[]> =>
      (await store.readRun({ ...keyOf("r1"), after, limit })).map((entry) => entry.seq);
    assert.deepEqual(await seqs(0, 1), [1]);
    assert.deepEqual(await seqs(0, 2), [1, 2, 3, 4]);
    assert.deepEqual(await seqs(2, 1), [3, 4]);
    assert.deepEqual(await seqs(2, 2), [3, 4, 5, 6]);
    assert.deepEqual(await seqs(4, 9), [5, 6]);
    assert.deepEqual(await seqs(6, 9), []);
    assert.deepEqual(await seqs(60, 9), []);
    assert.deepEqual(await store.readRun({ ...keyOf("none"), after: 0, limit: 9 }), []);
  }),

  "readAll pages through a scope's commits in one order that does not change": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    await store.create(birthOf("r1", { scope: scopeB }));
    const claim = await claimOne(store);
    await store.create(birthOf("r2"));
    await write(store, claim, { entries: [started(0), stepped(1)], after: 1 });
    await store.post(cancelOf("r2"));
    const all = await store.readAll({ scope: scopeA, after: 0, limit: 99 });
    const seen = all.map((row) => [row.run, row.entries.map((entry) => entry.seq)]);
    assert.deepEqual(seen, [
      ["r1", [1]],
      ["r2", [1]],
      ["r1", [2, 3]],
      ["r2", [2]],
    ]);
    const paged = [];
    for (let after = 0; ; ) {
      const [row] = await store.readAll({ scope: scopeA, after, limit: 1 });
      if (!row) break;
      assert.ok(row.position > after, "positions rise");
      after = row.position;
      paged.push(row);
    }
    assert.deepEqual(paged, all);
  }),

  "readThread gives the newest messages over the runs of a thread, oldest of them first": checked(async ({ store }) => {
    for (const run of ["r1", "r2"]) await store.create(birthOf(run, { thread }));
    const first = await claimOne(store);
    await store.post(inputTo("r1", "i1"));
    let head = await write(store, first, { entries: [started(0), saidAtBirth(0), saidAtBirth(1)], after: 2 });
    head = await write(store, first, {
      entries: [stepped(1), said("m1"), saidByInput("i1", 2)],
      after: head,
      position: 2,
    });
    assert.deepEqual(await messageIds(store, 9), ["r1-first", "r1-second", "m1", "i1"]);
    await write(store, first, { entries: [ended], after: head, position: 4 });
    const second = await claimOne(store);
    head = await write(store, second, { entries: [started(4), saidAtBirth(0)], after: 1, position: 4 });
    await write(store, second, { entries: [said("m2"), said("m3")], after: head, position: 5 });
    const all = ["r1-first", "r1-second", "m1", "i1", "r2-first", "m2", "m3"];
    for (let limit = 0; limit <= 9; limit += 1) {
      assert.deepEqual(await messageIds(store, limit), limit === 0 ? [] : all.slice(-limit));
    }
    const [message] = await store.readThread({ scope: scopeA, thread, limit: 1 });
    assert.deepEqual(message?.parts, [{ type: "text", text: "says m3" }]);
    assert.deepEqual(await store.readThread({ scope: scopeA, thread: "none" as ThreadId, limit: 9 }), []);
  }),

  "tickets are found by every part of the filter, in the order they were opened": checked(async ({ store }) => {
    const listed = [ticketOf("r1", 2), ticketOf("r1", 1), ticketOf("r2", 1, { kind: "input", agent: "bob" })];
    for (const run of ["r1", "r2"]) {
      await store.create(birthOf(run));
      const mine = listed.filter((ticket) => ticket.run === run).map(opened);
      await write(store, await claimOne(store), { entries: [started(0), ...mine], after: 1 });
    }
    await store.post(decisionOn(ticketOf("r1", 1), "k"));
    const ids = async (filter: Partial<TicketFilter>): Promise<readonly string[]> =>
      (await store.tickets({ scope: scopeA, limit: 9, ...filter })).map((row) => row.ticket.id);
    const [r1second, r1first, r2first] = listed.map((ticket) => ticket.id);
    assert.deepEqual(await ids({}), [r1second, r1first, r2first]);
    assert.deepEqual(await ids({ limit: 2 }), [r1second, r1first]);
    assert.deepEqual(await ids({ status: "open" }), [r1second, r2first]);
    assert.deepEqual(await ids({ status: "decided" }), [r1first]);
    assert.deepEqual(await ids({ ...(r1first === undefined ? {} : { id: r1first }) }), [r1first]);
    assert.deepEqual(await ids({ run: "r1" as RunId }), [r1second, r1first]);
    assert.deepEqual(await ids({ run: "r1" as RunId, status: "open" }), [r1second]);
    assert.deepEqual(await ids({ rootRun: "r2" as RunId }), [r2first]);
    assert.deepEqual(await ids({ thread: "thread-r2" as ThreadId }), [r2first]);
    assert.deepEqual(await ids({ tool: "tool-2" }), [r1second]);
    assert.deepEqual(await ids({ call: "r2.1.1" as CallId }), [r2first]);
    assert.deepEqual(await ids({ kind: "input" }), [r2first]);
    assert.deepEqual(await ids({ kind: "input", run: "r1" as RunId }), []);
    assert.deepEqual(await ids({ agents: ["bob"] }), [r2first]);
    assert.deepEqual(await ids({ agents: ["ann", "bob", "none"] }), [r1second, r1first, r2first]);
    assert.deepEqual(await ids({ agents: ["ann"], kind: "approval", status: "open" }), [r1second]);
    assert.deepEqual(await ids({ agents: ["bob"], kind: "approval", status: "open" }), []);
    assert.deepEqual(await ids({ agents: [] }), []);
    assert.deepEqual(await ids({ tool: "none" }), []);
  }),

  "an older snapshot never replaces a newer one": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const key = keyOf("r1");
    assert.equal(await store.snapshot(key), undefined);
    await store.saveSnapshot(key, { seq: 5, foldVersion: 1, state: "five" });
    await store.saveSnapshot(key, { seq: 4, foldVersion: 1, state: "four" });
    assert.deepEqual(await store.snapshot(key), { seq: 5, foldVersion: 1, state: "five" });
    await store.saveSnapshot(key, { seq: 5, foldVersion: 2, state: "again" });
    assert.deepEqual(await store.snapshot(key), { seq: 5, foldVersion: 2, state: "again" });
    await store.saveSnapshot(keyOf("none"), { seq: 1, foldVersion: 1, state: "" });
    assert.equal(await store.snapshot(keyOf("none")), undefined);
  }),

  "evidence is kept in order and changes nothing of the run": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1"));
    const before = await store.run(keyOf("r1"));
    await store.addEvidence({ ...keyOf("r1"), kind: "late-result", body: { n: 1 } });
    clock.advance(7);
    await store.addEvidence({ ...keyOf("r1"), kind: "late-decision", body: null });
    assert.deepEqual(await store.evidence(keyOf("r1")), [
      { kind: "late-result", at: 1_000, body: { n: 1 } },
      { kind: "late-decision", at: 1_007, body: null },
    ]);
    assert.deepEqual(await store.run(keyOf("r1")), before);
    const lost = store.addEvidence({ ...keyOf("none"), kind: "late-result", body: null });
    await throwsCode(lost, "run-not-found");
  }),

  "everything that was acknowledged is there after a restart": checked(async ({ store, clock, reopen }) => {
    const ticket = ticketOf("r1", 1);
    await store.create(birthOf("r1", { thread }));
    await store.create(birthOf("r2", { thread }));
    const claim = await claimOne(store);
    await write(store, claim, { entries: [started(0), saidAtBirth(0), opened(ticket)], after: 1 });
    const first = await store.post(decisionOn(ticket, "k"));
    const look = async (from: Store): Promise<unknown> => [
      await from.run(keyOf("r1")),
      await from.run(keyOf("r2")),
      await from.readAll({ scope: scopeA, after: 0, limit: 99 }),
      await from.readThread({ scope: scopeA, thread, limit: 9 }),
      await from.tickets({ scope: scopeA, limit: 9 }),
    ];
    const before = await look(store);
    await store.close();
    const again = await reopen();
    assert.deepEqual(await look(again), before);
    assert.deepEqual(await again.post(decisionOn(ticket, "k")), first);
    clock.advance(1);
    await write(again, claim, { entries: [ended], after: 5, position: 1 });
    assert.equal((await claimOne(again)).run, "r2");
  }),
};
