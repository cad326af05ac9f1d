/** Checks of delegates' runs: their births in the outbox, their place below their parent, and what is dropped. */
import assert from "node:assert/strict";
import type { TicketDecided } from "../../domain/entry.ts";
import type { RunId, ThreadId } from "../../domain/ids.ts";
import type { TicketRecord } from "../../domain/ticket.ts";
import type { Birth } from "../../ports/birth.ts";
import {
  birthOf,
  checked,
  claimOne,
  decisionOn,
  ended,
  keyOf,
  opened,
  type StoreCheck,
  scopeA,
  scopeB,
  started,
  stepped,
  threadKey,
  ticketOf,
  waiting,
  write,
} from "./store-fixtures.ts";

function childOf(parent: string, run: string): Birth {
  const birth = birthOf(run, { agent: "bob" });
  const lineage = {
    parentRun: parent as RunId,
    parentThread: `thread-${parent}` as ThreadId,
    origin: "subagent",
  } as const;
  const { identity } = birth.entry;
  return { ...birth, entry: { ...birth.entry, identity: { ...identity, ...lineage } } };
}

function endOf(run: string, { id }: TicketRecord): TicketDecided {
  const outcome = { kind: "completed", reason: "natural" } as const;
  const usage = { inputTokens: 0, outputTokens: 0 };
  const decision = { kind: "child-ended", run: run as RunId, agent: "bob", outcome, steps: 1, usage } as const;
  return { type: "ticket-decided", ticket: id, decision, by: run, key: `${id}.ended` };
}

export const family: Record<string, StoreCheck> = {
  "O1 births and drops come with their commit, in the lane of runs, and as they were given": checked(
    async ({ store, reopen }) => {
      await store.create(birthOf("r1"));
      const claim = await claimOne(store);
      const deliveries = [
        { to: "birth" as const, birth: childOf("r1", "c1") },
        { to: "drop" as const, thread: "thread-c0" as ThreadId },
      ];
      await write(store, claim, { entries: [started(0), stepped(1)], after: 1, deliveries });
      const taken = await (await reopen()).takeDeliveries({ scope: scopeA, leaseMs: 500, limit: 10 });
      assert.deepEqual(
        taken.map(({ delivery }) => delivery),
        deliveries,
      );
    },
  ),

  "S6 a birth that is carried twice is one run": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    const birth = JSON.parse(JSON.stringify(childOf("r1", "c1"))) as Birth;
    assert.deepEqual(await store.create(birth), { kind: "created", queued: false });
    assert.deepEqual(await store.create(birth), { kind: "existing", run: "c1" });
    const both = await Promise.all([store.create(childOf("r1", "c2")), store.create(childOf("r1", "c2"))]);
    assert.deepEqual(both.map(({ kind }) => kind).sort(), ["created", "existing"]);
  }),

  "S14 a delegate's run is born only while its parent waits for it, also after it was dropped": checked(
    async ({ store }) => {
      await store.create(birthOf("r1"));
      const claim = await claimOne(store);
      const ticket = ticketOf("r1", 1);
      const wanted = (run: string): Birth => {
        const birth = childOf("r1", run);
        return { ...birth, entry: { ...birth.entry, delegated: { ticket: ticket.id, hash: ticket.hash, path: [] } } };
      };
      assert.deepEqual(await store.create(wanted("c0")), { kind: "unwanted" });
      await write(store, claim, { entries: [started(0), opened(ticket), waiting], after: 1 });
      assert.deepEqual(await store.create(wanted("c1")), { kind: "created", queued: false });
      assert.equal((await store.post(decisionOn(ticket, "k"))).kind, "posted");
      assert.deepEqual(await store.create(wanted("c1")), { kind: "existing", run: "c1" });
      assert.deepEqual(await store.create(wanted("c2")), { kind: "unwanted" });
      await write(store, await claimOne(store, { agents: ["bob"] }), { entries: [started(0), ended], after: 1 });
      assert.equal((await store.deleteThread({ ...threadKey("thread-c1"), children: "cascade" })).kind, "deleted");
      assert.deepEqual(await store.create(wanted("c1")), { kind: "unwanted" });
      assert.equal(await store.run(keyOf("c1")), undefined);
    },
  ),

  "O5 a delegate's run stays while its parent waits to be told of its end": checked(async ({ store }) => {
    const ticket = ticketOf("r1", 1, { kind: "child" });
    await store.create(birthOf("r1"));
    await write(store, await claimOne(store), { entries: [started(0), opened(ticket), waiting], after: 1 });
    await store.create(childOf("r1", "c1"));
    const told = { to: "run" as const, run: "r1" as RunId, fact: endOf("c1", ticket), hash: ticket.hash };
    const claim = await claimOne(store, { agents: ["bob"] });
    await write(store, claim, { entries: [started(0), ended], after: 1, deliveries: [told] });
    const drop = { ...threadKey("thread-c1"), children: "cascade" as const };
    assert.deepEqual(await store.eraseRun(keyOf("c1")), { kind: "busy", run: "c1" });
    assert.deepEqual(await store.deleteThread(drop), { kind: "busy", run: "c1" });
    assert.equal((await store.deliveries(keyOf("c1"))).length, 1);
    const { fact, hash } = told;
    assert.equal((await store.post({ ...keyOf("r1"), key: fact.key, fact, hash })).kind, "posted");
    // It was told; that nobody has taken the delivery away yet holds up nothing.
    assert.deepEqual(await store.deleteThread(drop), { kind: "deleted", threads: 1, runs: 1 });
    assert.deepEqual(await store.deliveries(keyOf("c1")), []);
  }),

  "H4 a delegate's thread is below its parent's, and stands alone where that is gone": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    await store.create(childOf("r1", "c1"));
    await store.create(childOf("nobody", "c2"));
    assert.equal((await store.thread(threadKey("thread-c1")))?.parent, "thread-r1");
    assert.equal((await store.thread(threadKey("thread-c2")))?.parent, undefined);
    const below = await store.threads({ scope: scopeA, parent: "thread-r1" as ThreadId, order: "oldest", limit: 9 });
    assert.deepEqual(
      below.map(({ thread }) => thread),
      ["thread-c1"],
    );
  }),

  "H2 runs are listed and counted by their parent, with other filters beside it": checked(async ({ store }) => {
    await store.create(birthOf("r1"));
    for (const run of ["c1", "c2", "c3"]) await store.create(childOf("r1", run));
    await store.create(childOf("c1", "d1"));
    await store.create(birthOf("x", { scope: scopeB }));
    const parent = "r1" as RunId;
    const list = async (filter: object): Promise<readonly string[]> => {
      const rows = await store.runs({ scope: scopeA, order: "oldest", limit: 9, ...filter });
      return rows.map(({ run }) => run);
    };
    assert.deepEqual(await list({ parent }), ["c1", "c2", "c3"]);
    assert.deepEqual(await list({ parent, order: "newest", limit: 2 }), ["c3", "c2"]);
    assert.deepEqual(await list({ parent, agent: "bob", status: "created" }), ["c1", "c2", "c3"]);
    assert.deepEqual(await list({ parent, agent: "ann" }), []);
    assert.deepEqual(await list({ parent, thread: "thread-c2" }), ["c2"]);
    assert.equal(await store.countRuns({ scope: scopeA, parent: "c1" as RunId }), 1);
    assert.equal(await store.countRuns({ scope: scopeB, parent }), 0);
    const [first] = await store.runs({ scope: scopeA, order: "oldest", limit: 1, parent });
    assert.equal(first?.parent, "r1");
    const [root] = await store.runs({ scope: scopeA, order: "oldest", limit: 1 });
    assert.equal(root && "parent" in root, false);
  }),

  "H3 a thread that is dropped takes those below it along, and not before they have ended": checked(
    async ({ store }) => {
      await store.create(birthOf("r1"));
      await write(store, await claimOne(store), { entries: [started(0), ended], after: 1 });
      await store.create(childOf("r1", "c1"));
      const drop = { ...threadKey("thread-r1"), children: "cascade" as const };
      assert.deepEqual(await store.deleteThread(drop), { kind: "busy", run: "c1" });
      await write(store, await claimOne(store, { agents: ["bob"] }), { entries: [started(0), ended], after: 1 });
      assert.deepEqual(await store.deleteThread(drop), { kind: "deleted", threads: 2, runs: 2 });
      assert.equal(await store.run(keyOf("c1")), undefined);
    },
  ),
};
