/** Checks of births on a thread that has an active run: BusyRule. */
import assert from "node:assert/strict";
import type { BusyRule } from "../../ports/birth.ts";
import type { Store } from "../../ports/store.ts";
import {
  type Bench,
  birthOf,
  cancelOf,
  checked,
  claimAll,
  claimOne,
  decided,
  decisionOn,
  ended,
  headOf,
  keyOf,
  opened,
  rowOf,
  type StoreCheck,
  scopeA,
  started,
  stepped,
  threadOf,
  ticketOf,
  waiting,
  write,
} from "./store-fixtures.ts";

const on = { thread: "t" };
const rules: readonly BusyRule[] = ["queue", "queue-unless-waiting", "reject", "interrupt", "supersede"];

/** r1 waits on two open tickets; a third is decided. Its head is 7. */
async function waitingRun(store: Store): Promise<void> {
  await store.create(birthOf("r1", on));
  const tickets = [1, 2, 3].map((generation) => ticketOf("r1", generation));
  const entries = [started(0), ...tickets.map(opened), decided(ticketOf("r1", 1).id, "k"), waiting];
  await write(store, await claimOne(store), { entries, after: 1 });
}

async function ticketsOf(store: Store): Promise<readonly unknown[]> {
  return (await store.tickets({ scope: scopeA, status: "open", limit: 9 })).map((row) => row.ticket);
}

/** The order in which the runs of the thread get it. */
async function turns(store: Store): Promise<readonly string[]> {
  const order: string[] = [];
  for (;;) {
    const current = (await threadOf(store, "t")).current?.run;
    if (!current) return order;
    order.push(current);
    const claim = (await claimAll(store)).find((each) => each.run === current);
    assert.ok(claim, `run ${current} is claimable`);
    await write(store, claim, { entries: [ended], after: await headOf(store, claim) });
  }
}

function takesTheThread(rule: "interrupt" | "supersede", instead: string): (bench: Bench) => Promise<void> {
  return async ({ store, clock }) => {
    await waitingRun(store);
    await store.create(birthOf("r2", on));
    clock.advance(5);
    const answer = await store.create(birthOf("r3", { ...on, whenBusy: rule, by: "ana" }));
    assert.deepEqual(answer, { kind: "created", queued: true });
    const [entry, ...rest] = await store.readRun({ ...keyOf("r1"), after: 7, limit: 9 });
    const request = { type: "cancel-requested", by: "ana", instead };
    assert.deepEqual([entry, rest], [{ ...request, seq: 8, at: clock.now(), epoch: null }, []]);
    const { wake, head } = await rowOf(store, keyOf("r1"));
    assert.deepEqual([wake, head], [clock.now(), 8]);
    assert.deepEqual(await store.post(cancelOf("r1")), { kind: "already", seq: 8 });
    assert.equal((await threadOf(store, "t")).queued, 2);
    const all = await store.readAll({ scope: scopeA, after: 0, limit: 9 });
    assert.deepEqual(
      all.slice(-2).map((row) => [row.run, row.entries.map((each) => each.type)]),
      [
        ["r1", ["cancel-requested"]],
        ["r3", ["run-created"]],
      ],
    );
    assert.deepEqual(await turns(store), ["r1", "r3", "r2"]);
  };
}

export const busy: Record<string, StoreCheck> = {
  "whenBusy: without an active run every rule just creates": checked(async ({ store }) => {
    for (const [n, whenBusy] of rules.entries()) {
      const answer = await store.create(birthOf(`r${n}`, { ...on, whenBusy }));
      assert.deepEqual(answer, { kind: "created", queued: false });
      await write(store, await claimOne(store), { entries: [started(0), ended], after: 1 });
    }
  }),

  "whenBusy: reject answers with the active run, its status and open tickets, and writes nothing": checked(
    async ({ store }) => {
      await waitingRun(store);
      const [before, row] = [await store.head(), await threadOf(store, "t")];
      for (const whenBusy of ["reject", "queue-unless-waiting"] as const) {
        const answer = await store.create(birthOf("r2", { ...on, whenBusy }));
        const active = { run: "r1", status: "waiting", tickets: await ticketsOf(store) };
        assert.deepEqual(answer, { kind: "busy", active });
        assert.equal(active.tickets.length, 2);
      }
      assert.deepEqual([await store.head(), await threadOf(store, "t")], [before, row]);
      assert.equal(await store.run(keyOf("r2")), undefined);
      assert.deepEqual(await store.create(birthOf("r2", on)), { kind: "created", queued: true });
    },
  ),

  "whenBusy: queue-unless-waiting queues behind a created or running run; reject rejects": checked(
    async ({ store }) => {
      await store.create(birthOf("r1", on));
      const queued = { kind: "created", queued: true };
      const rejected = async (status: string): Promise<void> =>
        assert.deepEqual(await store.create(birthOf("no", { ...on, whenBusy: "reject" })), {
          kind: "busy",
          active: { run: "r1", status, tickets: [] },
        });
      await rejected("created");
      assert.deepEqual(await store.create(birthOf("r2", { ...on, whenBusy: "queue-unless-waiting" })), queued);
      await write(store, await claimOne(store), { entries: [started(0), stepped(1)], after: 1 });
      await rejected("running");
      assert.deepEqual(await store.create(birthOf("r3", { ...on, whenBusy: "queue-unless-waiting" })), queued);
      assert.equal(await headOf(store, keyOf("r1")), 3);
    },
  ),

  "whenBusy: interrupt asks the active run to end and takes the next turn": checked(
    takesTheThread("interrupt", "interrupted"),
  ),
  "whenBusy: supersede asks the active run to end and takes the next turn": checked(
    takesTheThread("supersede", "superseded"),
  ),

  "whenBusy: interrupting runs come newest first, then the others by age": checked(async ({ store, reopen }) => {
    await store.create(birthOf("r1", on));
    const order: readonly [string, BusyRule][] = [
      ["q1", "queue"],
      ["i1", "interrupt"],
      ["q2", "queue"],
      ["i2", "supersede"],
      ["q3", "queue-unless-waiting"],
    ];
    for (const [run, whenBusy] of order) await store.create(birthOf(run, { ...on, whenBusy }));
    assert.deepEqual(await turns(await reopen()), ["r1", "i2", "i1", "q1", "q2", "q3"]);
  }),

  "whenBusy: a run that was asked to cancel is not asked again, whoever asked": checked(async ({ store }) => {
    await store.create(birthOf("r1", on));
    await store.post(cancelOf("r1"));
    await store.create(birthOf("r2", { ...on, whenBusy: "interrupt" }));
    await store.create(birthOf("r3", { ...on, whenBusy: "supersede" }));
    assert.equal(await headOf(store, keyOf("r1")), 2);
    assert.deepEqual(await turns(store), ["r1", "r3", "r2"]);
    await store.create(birthOf("r4", on));
    const ticket = ticketOf("r4", 1, { kind: "quarantined" });
    await write(store, await claimOne(store), { entries: [started(0), opened(ticket), waiting], after: 1 });
    await store.post({ ...decisionOn(ticket, "k"), fact: decided(ticket.id, "k", { kind: "cancel-run" }) });
    await store.create(birthOf("r5", { ...on, whenBusy: "interrupt" }));
    assert.equal(await headOf(store, keyOf("r4")), 5);
  }),

  "whenBusy: the one who asks is recorded, anonymous unless said": checked(async ({ store }) => {
    await store.create(birthOf("r1", on));
    await store.create(birthOf("r2", { ...on, whenBusy: "interrupt" }));
    const [entry] = await store.readRun({ ...keyOf("r1"), after: 1, limit: 1 });
    assert.equal(entry?.type === "cancel-requested" && entry.by, "anonymous");
  }),

  "S6 whenBusy: a start key that was used answers before any rule, and so does a run id": checked(async ({ store }) => {
    await store.create(birthOf("r1", { ...on, key: "k" }));
    for (const whenBusy of rules) {
      assert.deepEqual(await store.create(birthOf("r2", { ...on, key: "k", whenBusy })), {
        kind: "existing",
        run: "r1",
      });
      const other = birthOf("r2", { ...on, key: "k", requestHash: "other", whenBusy });
      assert.deepEqual(await store.create(other), { kind: "conflict", run: "r1" });
      assert.deepEqual(await store.create(birthOf("r1", { ...on, key: "k2", whenBusy })), { kind: "run-exists" });
    }
    assert.equal(await headOf(store, keyOf("r1")), 1);
  }),

  "whenBusy: of a hundred births that reject one another one is created": checked(async ({ store }) => {
    const all = Array.from({ length: 100 }, (_, n) => store.create(birthOf(`r${n}`, { ...on, whenBusy: "reject" })));
    const kinds = (await Promise.all(all)).map((answer) => answer.kind);
    assert.equal(kinds.filter((kind) => kind === "created").length, 1);
    assert.equal(kinds.filter((kind) => kind === "busy").length, 99);
  }),
};
