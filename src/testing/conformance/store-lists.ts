/** Checks of lists: runs and counts, messages by place, commits by thread and agent. */
import assert from "node:assert/strict";
import type { ThreadId } from "../../domain/ids.ts";
import type { Store } from "../../ports/store.ts";
import type { MessageList, RunFilter, RunList } from "../../ports/thread-store.ts";
import {
  birthOf,
  cancelOf,
  checked,
  claimAll,
  claimOne,
  ended,
  historyOf,
  inputTo,
  keyOf,
  play,
  type StoreCheck,
  said,
  saidAtBirth,
  saidByInput,
  scopeA,
  scopeB,
  started,
  stepped,
  threadKey,
  waiting,
  whispered,
  write,
} from "./store-fixtures.ts";

const thread = "t" as ThreadId;

async function runsOf(store: Store, list: Partial<RunList>): Promise<readonly string[]> {
  const rows = await store.runs({ scope: scopeA, order: "oldest", limit: 99, ...list });
  return rows.map((row) => row.run);
}

async function placesOf(store: Store, list: Partial<MessageList>): Promise<readonly number[]> {
  const rows = await store.messages({ ...threadKey("t"), order: "oldest", limit: 99, ...list });
  return rows.map((row) => row.position);
}

/** One run, 12 messages of which every third is for the model only, in commits of two with other rows between. */
async function longRun(store: Store): Promise<void> {
  await store.create(birthOf("r2", { thread: "t" }));
  const claim = await claimOne(store);
  let head = await write(store, claim, { entries: [started(2)], after: 1, position: 2 });
  for (let n = 0; n < 12; n += 2) {
    await store.post(inputTo("r2", `note-${n}`));
    const pair = [n, n + 1].map((each) => (each % 3 === 0 ? whispered(`m${each}`) : said(`m${each}`)));
    head = await write(store, claim, { entries: [stepped(n), ...pair], after: head + 1, position: 2 + n });
    head = await write(store, claim, { entries: [stepped(n)], after: head, position: 4 + n });
  }
  await write(store, claim, { entries: [ended], after: head, position: 14 });
}

export const lists: Record<string, StoreCheck> = {
  "H2 runs are listed by creation, both ways, and by every filter; a count counts them": checked(async ({ store }) => {
    for (const [run, where, agent] of [
      ["r1", "t", "ann"],
      ["r2", "t", "bob"],
      ["r3", "u", "ann"],
      ["r4", "t", "ann"],
    ] as const) {
      await store.create(birthOf(run, { thread: where, agent }));
    }
    await store.create(birthOf("x", { scope: scopeB, thread: "t" }));
    for (const last of [ended, waiting]) {
      const [claim] = await claimAll(store, { limit: 1 });
      assert.ok(claim);
      await write(store, claim, { entries: [started(0), last], after: 1 });
    }
    const expected: readonly (readonly [Partial<RunFilter>, readonly string[]])[] = [
      [{}, ["r1", "r2", "r3", "r4"]],
      [{ thread }, ["r1", "r2", "r4"]],
      [{ agent: "ann" }, ["r1", "r3", "r4"]],
      [{ status: "created" }, ["r2", "r4"]],
      [{ status: "done" }, ["r1"]],
      [{ status: "waiting" }, ["r3"]],
      [{ status: "running" }, []],
      [{ thread, agent: "ann" }, ["r1", "r4"]],
      [{ thread, status: "created" }, ["r2", "r4"]],
      [{ agent: "ann", status: "created" }, ["r4"]],
      [{ agent: "ann", status: "done" }, ["r1"]],
      [{ agent: "bob", status: "done" }, []],
      [{ thread, agent: "bob", status: "created" }, ["r2"]],
      [{ thread: "none" as ThreadId }, []],
    ];
    for (const [filter, names] of expected) {
      const said = JSON.stringify(filter);
      assert.deepEqual(await runsOf(store, filter), names, said);
      assert.deepEqual(await runsOf(store, { ...filter, order: "newest" }), names.toReversed(), said);
      assert.equal(await store.countRuns({ scope: scopeA, ...filter }), names.length, said);
      const walked: string[] = [];
      for (let after = 0; ; ) {
        const [row] = await store.runs({ scope: scopeA, order: "oldest", limit: 1, after, ...filter });
        if (!row) break;
        walked.push(row.run);
        after = row.no;
      }
      assert.deepEqual(walked, names, said);
    }
    const [row] = await store.runs({ scope: scopeA, order: "newest", limit: 1 });
    const { no, ...rest } = row ?? { no: 0 };
    assert.deepEqual(await runsOf(store, { order: "newest", after: no }), ["r3", "r2", "r1"]);
    const listed = { run: "r4", thread: "t", agent: "ann", status: "created", queued: true, head: 1, createdAt: 1_000 };
    assert.deepEqual(rest, listed);
  }),

  "H1 messages are paged by their place in the thread, both ways, from every place": checked(async ({ store }) => {
    await store.createThread({ ...threadKey("t"), history: historyOf("old", threadKey("t")) });
    await longRun(store);
    await store.create(birthOf("none", { thread: "t" }));
    await write(store, await claimOne(store), { entries: [started(14), ended], after: 1, position: 14 });
    await store.create(birthOf("r3", { thread: "t" }));
    const claim = await claimOne(store);
    await store.post(inputTo("r3", "i1"));
    const entries = [started(14), saidAtBirth(1), saidByInput("i1", 2), said("last")];
    await write(store, claim, { entries, after: 2, position: 14 });
    const all = await store.messages({ ...threadKey("t"), order: "oldest", limit: 99 });
    const later = Array.from({ length: 12 }, (_, n) => `m${n}`);
    const ids = ["old-first", "old-second", ...later, "r3-second", "i1", "last"];
    assert.deepEqual(
      all.map(({ position, message }) => [position, message.id]),
      ids.map((id, n) => [n + 1, id]),
    );
    assert.deepEqual(
      all.map((placed) => placed.message),
      await store.readThread({ ...threadKey("t"), limit: 99 }),
    );
    const places = ids.map((_, n) => n + 1);
    for (let after = 0; after <= 18; after += 1) {
      for (const limit of [1, 2, 5, 99]) {
        const page = { after, limit };
        const up = places.filter((each) => each > after).slice(0, limit);
        const down = places.toReversed().filter((each) => each < after);
        assert.deepEqual(await placesOf(store, page), up, JSON.stringify(page));
        assert.deepEqual(await placesOf(store, { ...page, order: "newest" }), down.slice(0, limit));
      }
    }
    assert.deepEqual(await placesOf(store, { order: "newest", limit: 3 }), [17, 16, 15]);
    assert.deepEqual(await placesOf(store, { thread: "none" as ThreadId }), []);
  }),

  "messages for people leave out what is for the model only, and keep their places": checked(async ({ store }) => {
    await store.createThread({ ...threadKey("t"), history: historyOf("old", threadKey("t")) });
    await longRun(store);
    const shown = [1, 2, 4, 5, 7, 8, 10, 11, 13, 14];
    assert.deepEqual(await placesOf(store, { visibility: "all" }), shown);
    for (let after = 0; after <= 15; after += 1) {
      for (const limit of [1, 3]) {
        const page = { after, limit, visibility: "all" } as const;
        const up = shown.filter((each) => each > after).slice(0, limit);
        const down = shown.toReversed().filter((each) => each < after);
        assert.deepEqual(await placesOf(store, page), up);
        assert.deepEqual(await placesOf(store, { ...page, order: "newest" }), down.slice(0, limit));
      }
    }
  }),

  "H1 an interrupting run's messages stand before those of the runs that were queued": checked(async ({ store }) => {
    await store.create(birthOf("r1", { thread: "t" }));
    const first = await claimOne(store);
    const head = await write(store, first, { entries: [started(0), said("a")], after: 1 });
    await store.create(birthOf("r2", { thread: "t" }));
    await store.create(birthOf("r3", { thread: "t", whenBusy: "interrupt" }));
    await write(store, first, { entries: [ended], after: head + 1, position: 1 });
    for (const _ of ["r3", "r2"]) await play(store, 2);
    const listed = await store.messages({ ...threadKey("t"), order: "oldest", limit: 9 });
    assert.deepEqual(
      listed.map(({ position, run }) => [position, run]),
      [
        [1, "r1"],
        [2, "r3"],
        [3, "r3"],
        [4, "r2"],
        [5, "r2"],
      ],
    );
  }),

  "commits are read by thread and by agent, and say both": checked(async ({ store }) => {
    await store.create(birthOf("r1", { thread: "t" }));
    await store.create(birthOf("r2", { thread: "u", agent: "bob" }));
    await store.create(birthOf("r3", { thread: "t", agent: "bob" }));
    await store.create(birthOf("r4", { thread: "t", agent: "bob", scope: scopeB }));
    for (const run of ["r1", "r2", "r3"]) await store.post(cancelOf(run));
    const all = await store.readAll({ scope: scopeA, after: 0, limit: 99 });
    assert.deepEqual(
      all.slice(0, 3).map((row) => [row.run, row.thread, row.agent]),
      [
        ["r1", "t", "ann"],
        ["r2", "u", "bob"],
        ["r3", "t", "bob"],
      ],
    );
    for (const only of [{ thread }, { agent: "bob" }, { thread, agent: "bob" }, { thread, agent: "none" }]) {
      const fits = all.filter(
        (row) => (only.thread ?? row.thread) === row.thread && (only.agent ?? row.agent) === row.agent,
      );
      for (const after of [0, ...all.map((row) => row.position)]) {
        const rest = fits.filter((row) => row.position > after);
        assert.deepEqual(await store.readAll({ scope: scopeA, after, limit: 99, ...only }), rest);
        assert.deepEqual(await store.readAll({ scope: scopeA, after, limit: 1, ...only }), rest.slice(0, 1));
      }
    }
  }),

  "head is the newest position and changes with every commit of anyone": checked(async ({ store }) => {
    let last = await store.head();
    assert.equal(last, 0);
    const moved = async (): Promise<void> => {
      const head = await store.head();
      assert.ok(head > last);
      last = head;
    };
    await store.create(birthOf("r1"));
    await moved();
    await store.create(birthOf("r1", { scope: scopeB }));
    await moved();
    await store.post(cancelOf("r1"));
    await moved();
    await play(store, 1);
    await moved();
    await store.createThread({ ...threadKey("t"), history: historyOf("old", threadKey("t")) });
    await moved();
    const rows = await store.readAll({ scope: scopeA, after: 0, limit: 99 });
    assert.equal(rows.at(-1)?.position, last);
    await store.saveSnapshot(keyOf("r1"), { seq: 1, foldVersion: 1, state: "" });
    assert.equal(await store.head(), last);
  }),
};
