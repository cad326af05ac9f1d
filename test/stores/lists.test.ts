/** H2: a page costs its length, whatever the store holds. */
import { expect, test } from "vitest";
import type { RunId, Scope, ThreadId } from "../../src/domain/ids.ts";
import { pageOf as runPage } from "../../src/stores/sqlite/run-lists.ts";
import { pageOf as threadPage } from "../../src/stores/sqlite/thread-rows.ts";
import {
  birthOf,
  claimOne,
  ended,
  historyOf,
  said,
  started,
  stepped,
  threadKey,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { type Watched, watched } from "./watched-store.ts";

const scope = "a" as Scope;
const orders = ["newest", "oldest"] as const;
const parents = [undefined, null, "parent" as ThreadId] as const;

/** Every second thread is a child of the first, every fourth has a run that has ended. */
async function fill(bench: Watched, threads: number): Promise<void> {
  await bench.store.createThread(threadKey("parent"));
  const all = Array.from({ length: threads - 1 }, (_, n) => {
    const key = threadKey(`t${n}`);
    const lineage = n % 2 === 0 ? { parent: "parent" as ThreadId } : {};
    const history = n % 4 === 0 ? { history: historyOf(`r${n}`, key) } : {};
    return bench.store.createThread({ ...key, ...lineage, ...history, title: `Thread ${n}` });
  });
  await Promise.all(all);
}

interface Reading {
  readonly items: number;
  readonly statements: number;
  readonly rows: number;
}

async function reading(bench: Watched, read: () => Promise<readonly unknown[]>): Promise<Reading> {
  bench.seen();
  bench.rows();
  const items = await read();
  return { items: items.length, statements: bench.seen().length, rows: bench.rows() };
}

/** Pages from the middle of every list. */
async function readPages(bench: Watched, threads: number): Promise<readonly Reading[]> {
  const { store } = bench;
  const readings: Reading[] = [];
  for (const order of orders) {
    const page = { scope, order, limit: 20 };
    for (const parent of parents) {
      const filter = parent === undefined ? {} : { parent };
      const after = Math.floor(threads / 2);
      readings.push(await reading(bench, () => store.threads({ ...page, ...filter, after })));
    }
    const after = Math.floor(threads / 8);
    for (const filter of [{}, { agent: "import" }, { status: "done" as const }]) {
      readings.push(await reading(bench, () => store.runs({ ...page, ...filter, after, limit: 10 })));
    }
  }
  return readings;
}

test("H2 pages at 20,000 threads read as many rows as at 100", { timeout: 60_000 }, async () => {
  const all: (readonly Reading[])[] = [];
  for (const threads of [100, 20_000]) {
    const bench = await watched();
    await fill(bench, threads);
    all.push(await readPages(bench, threads));
  }
  expect(all[1]).toEqual(all[0]);
  for (const { items, statements, rows } of all[1]!) {
    expect(items).toBeGreaterThanOrEqual(10);
    expect([statements, rows]).toEqual([1, items]);
  }
});

function planOf(bench: Watched, sql: string): string {
  const steps = bench.connection().all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
  return steps.map((row) => row.detail).join("; ");
}

const places = orders.flatMap((order) => [{ order }, { order, after: 5 }]);

test.each(places)("H2 a page of threads is read through an index in its order: %o", async (place) => {
  const bench = await watched();
  for (const parent of parents) {
    const plan = planOf(bench, threadPage(parent === undefined ? place : { ...place, parent }));
    expect(plan).toMatch(parent === undefined ? /threads_by_scope \(scope=\?/ : /threads_by_parent \(scope=\? AND/);
    expect(plan).not.toMatch(/TEMP B-TREE|SCAN/);
    expect(/rowid[<>]\?/.test(plan)).toBe("after" in place);
  }
});

test.each(places)("R1 a page of runs is read through an index in its order: %o", async (place) => {
  const bench = await watched();
  for (const [filter, index] of [
    [{}, "runs_by_scope"],
    [{ thread: "t" as ThreadId }, "runs_by_thread"],
    [{ agent: "ann" }, "runs_by_agent"],
    [{ parent: "r" as RunId }, "runs_by_parent"],
    [{ status: "waiting" as const }, "runs_by_status"],
    [{ agent: "ann", status: "waiting" as const }, "runs_by_status"],
    [{ agent: "ann", status: "done" as const }, "runs_by_agent"],
  ] as const) {
    const plan = planOf(bench, runPage({ scope, ...filter, ...place }).sql);
    expect(plan).toContain(`USING INDEX ${index} (`);
    expect(plan).not.toMatch(/TEMP B-TREE|SCAN/);
  }
});

test("M1 a page of messages of a run with 10,000 is found in a few steps, from every place", async () => {
  const bench = await watched();
  const key = threadKey("t");
  await bench.store.create(birthOf("r1", { thread: "t" }));
  const claim = await claimOne(bench.store);
  let head = await write(bench.store, claim, { entries: [started(0)], after: 1 });
  const messages = 10_000;
  for (let position = 0; position < messages; position += 2) {
    const entries = [stepped(position), said(`m${position + 1}`), said(`m${position + 2}`)];
    head = await write(bench.store, claim, { entries, after: head, position });
  }
  await write(bench.store, claim, { entries: [ended], after: head, position: messages });
  for (const after of [0, 1, 4_999, 7_002, 9_970]) {
    for (const order of orders) {
      const list = { ...key, order, after, limit: 20 };
      bench.rows();
      const page = await bench.store.messages(list);
      const step = order === "oldest" ? 1 : -1;
      const expected = Array.from({ length: 20 }, (_, n) => after + step * (n + 1)).filter((place) => place > 0);
      expect(page.map((placed) => [placed.position, placed.message.id])).toEqual(
        expected.map((place) => [place, `m${place}`]),
      );
      expect(bench.rows()).toBeLessThan(20 + 2 * Math.log2(messages * 2));
    }
  }
});

test("A2 commits of a thread are read without those of others, also far from the newest", async () => {
  const bench = await watched();
  await bench.store.create(birthOf("r1", { thread: "t" }));
  await fill(bench, 3_000);
  await bench.store.create(birthOf("r2", { thread: "t" }));
  bench.seen();
  const rows = await bench.store.readAll({ scope, after: 0, limit: 9, thread: "t" as ThreadId });
  expect(rows.map((row) => row.run)).toEqual(["r1", "r2"]);
  const [far] = bench.seen().filter((sql) => sql.includes("body"));
  const plan = planOf(bench, far ?? "");
  expect(plan).toMatch(/COVERING INDEX journal_by_run \(thread=\? AND run=\?/);
  expect(plan).not.toMatch(/SCAN (journal|runs)/);
  bench.seen();
  const near = { scope, after: rows[1]!.position - 1, limit: 9, thread: "t" as ThreadId };
  expect((await bench.store.readAll(near)).map((row) => row.run)).toEqual(["r2"]);
  expect(bench.seen().filter((sql) => sql.includes("journal_by_run"))).toEqual([]);
});
