/** A commit costs what it adds, never what the thread already holds (L2). */
import { statSync } from "node:fs";
import { expect, test } from "vitest";
import type { Scope, ThreadId } from "../../src/domain/ids.ts";
import type { Claim } from "../../src/ports/store.ts";
import { findDue, findNextDue, findScopes } from "../../src/stores/sqlite/claims.ts";
import { findUncited } from "../../src/stores/sqlite/content.ts";
import { findEnded } from "../../src/stores/sqlite/erasure.ts";
import { countDue, findFirst, findGivenBack, findNextAgent } from "../../src/stores/sqlite/figures.ts";
import { readNewest } from "../../src/stores/sqlite/messages.ts";
import { findDeliveryScopes, findDueDeliveries, findNextDelivery } from "../../src/stores/sqlite/outbox.ts";
import { findState } from "../../src/stores/sqlite/thread-state.ts";
import {
  birthOf,
  changed,
  claimOne,
  ended,
  said,
  settled,
  started,
  stepped,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { type Watched, watched } from "./watched-store.ts";

const sample = 40;

interface Cost {
  readonly statements: number;
  readonly bytes: number;
}

/** What 40 commits cost from here on. */
async function costOf(bench: Watched, claim: Claim, after: number): Promise<{ cost: Cost; head: number }> {
  const before = statSync(`${bench.path}-wal`).size;
  bench.seen();
  let head = after;
  for (let n = 0; n < sample; n += 1) {
    head = await write(bench.store, claim, { entries: [stepped(n), said("a message"), settled("done")], after: head });
  }
  return { cost: { statements: bench.seen().length, bytes: statSync(`${bench.path}-wal`).size - before }, head };
}

async function longRun(
  bench: Watched,
  claim: Claim,
  { after, commits }: { after: number; commits: number },
): Promise<number> {
  let head = after;
  for (let n = 0; n < commits; n += 1) {
    head = await write(bench.store, claim, { entries: [stepped(n), said("a message"), settled("done")], after: head });
  }
  return head;
}

/** The trees of a nearly empty file have one level less; both threads are measured in a file that is past that. */
async function fillFile(bench: Watched): Promise<void> {
  await bench.store.create(birthOf("other"));
  const claim = await claimOne(bench.store);
  const head = await longRun(bench, claim, { after: 1, commits: 300 });
  await write(bench.store, claim, { entries: [ended], after: head });
}

function expectFlat(early: Cost, late: Cost): void {
  expect(late.statements).toBe(early.statements);
  expect(late.bytes / early.bytes).toBeGreaterThan(0.9);
  expect(late.bytes / early.bytes).toBeLessThan(1.1);
}

test("a commit at step 2,000 costs what it costs at step 20", async () => {
  const bench = await watched();
  await bench.store.create(birthOf("r1"));
  const claim = await claimOne(bench.store);
  let head = await write(bench.store, claim, { entries: [started(0)], after: 1 });
  head = await longRun(bench, claim, { after: head, commits: 40 });
  const early = await costOf(bench, claim, head);
  head = await longRun(bench, claim, { after: early.head, commits: 3_960 });
  const late = await costOf(bench, claim, head);
  expectFlat(early.cost, late.cost);
});

test("a commit on a thread of 10,000 messages costs what it costs on one of 10, and its window reads no more rows", async () => {
  const costs: Cost[] = [];
  const rows: number[] = [];
  for (const messages of [10, 10_000]) {
    const bench = await watched();
    await fillFile(bench);
    for (const run of ["r1", "r2"]) await bench.store.create(birthOf(run, { thread: "t" }));
    const first = await claimOne(bench.store);
    let head = await write(bench.store, first, { entries: [started(0)], after: 1 });
    for (let n = 0; n < messages; n += 10) {
      head = await write(bench.store, first, {
        entries: Array.from({ length: 10 }, (_, m) => said(`m${n + m}`)),
        after: head,
        position: n,
      });
    }
    await write(bench.store, first, { entries: [ended], after: head, position: messages });
    const second = await claimOne(bench.store);
    head = await write(bench.store, second, { entries: [started(messages)], after: 1, position: messages });
    const { cost } = await costOf(bench, second, head);
    costs.push(cost);
    bench.rows();
    const window = await bench.store.readThread({ scope: "a" as Scope, thread: "t" as ThreadId, limit: 50 });
    rows.push(bench.rows());
    expect(window).toHaveLength(50);
  }
  expectFlat(costs[0]!, costs[1]!);
  expect(rows[1]).toBeLessThanOrEqual(50);
});

test("L1 claims, due times and thread windows are read through their indexes, without sorting", async () => {
  const { connection } = await watched();
  const planOf = (sql: string): string =>
    connection()
      .all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .map((row) => row.detail)
      .join("; ");
  expect(planOf(findDue)).toMatch(
    /SEARCH runs USING INDEX runs_due \(scope=\? AND agent=\? AND priority=\? AND due<\?\)/,
  );
  expect(planOf(findNextDue)).toMatch(
    /SEARCH runs USING (COVERING )?INDEX runs_due \(scope=\? AND agent=\? AND priority=\?/,
  );
  expect(planOf(readNewest)).toMatch(/runs_by_start .*journal_by_run \(thread=\? AND run=\?\)/);
  expect(planOf(findScopes).match(/SEARCH runs USING (COVERING )?INDEX runs_due \(scope>\?\)/g)).toHaveLength(2);
  for (const sql of [countDue, findFirst, findGivenBack])
    expect(planOf(sql)).toMatch(/INDEX runs_due \(scope=\? AND agent=\? AND priority=\? AND due[<=>]/);
  expect(planOf(findNextAgent)).toMatch(/INDEX runs_due \(scope=\? AND agent>\?\)/);
  const seeks = [countDue, findFirst, findGivenBack, findNextAgent];
  for (const sql of [findDue, findNextDue, findScopes, readNewest, ...seeks])
    expect(planOf(sql)).not.toMatch(/TEMP B-TREE|SCAN (runs|journal)/);
});

test("deliveries, runs to prune, content to collect and state are found through their indexes", async () => {
  const { connection } = await watched();
  const planOf = (sql: string): string =>
    connection()
      .all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .map((row) => row.detail)
      .join("; ");
  expect(planOf(findDueDeliveries)).toMatch(/USING (COVERING )?INDEX outbox_due \(lane=\? AND scope=\? AND due<\?\)/);
  expect(planOf(findNextDelivery)).toMatch(/USING COVERING INDEX outbox_due \(lane=\? AND scope=\?\)/);
  expect(planOf(findDeliveryScopes)).toMatch(/USING COVERING INDEX outbox_due \(lane=\? AND scope>\?\)/);
  expect(planOf(findDeliveryScopes)).not.toMatch(/TEMP B-TREE/);
  expect(planOf(findEnded)).toMatch(/INDEX runs_ended \(scope=\? AND ended_at<\?\)/);
  expect(planOf(findUncited)).toMatch(/INDEX content_by_time \(scope=\? AND time<\?\)/);
  expect(planOf(findState)).toMatch(/SEARCH thread_state USING PRIMARY KEY \(thread=\?\)/);
  for (const sql of [findDueDeliveries, findNextDelivery, findEnded, findUncited, findState])
    expect(planOf(sql)).not.toMatch(/TEMP B-TREE|SCAN/);
});

test("a commit that causes and cites nothing is one statement; the end of a run is written once in its row", async () => {
  const bench = await watched();
  await bench.store.create(birthOf("r1"));
  const claim = await claimOne(bench.store);
  let head = await write(bench.store, claim, { entries: [started(0), settled("done")], after: 1 });
  bench.seen();
  head = await write(bench.store, claim, { entries: [stepped(1)], after: head, deliveries: [] });
  expect(bench.seen()).toHaveLength(1);
  await write(bench.store, claim, { entries: [ended], after: head });
  const touching = bench.seen().filter((sql) => /outbox|content|thread_state/.test(sql));
  expect(touching).toEqual([]);
});

test("state of the run costs a commit nothing; that of the thread one look and one statement for each key", async () => {
  const bench = await watched();
  await bench.store.create(birthOf("r1"));
  const claim = await claimOne(bench.store);
  let head = await write(bench.store, claim, { entries: [started(0), settled("done")], after: 1 });
  bench.seen();
  head = await write(bench.store, claim, { entries: [changed("k", 1, { scope: "run" })], after: head });
  expect(bench.seen()).toHaveLength(1);
  await write(bench.store, claim, { entries: [changed("k", 1), changed("j", 1), changed("k", 2)], after: head });
  const statements = bench.seen();
  expect(statements).toHaveLength(6); // BEGIN, the journal's row, whether the run is queued, two keys, COMMIT
  expect(statements.filter((sql) => sql.includes("thread_state"))).toHaveLength(2);
});

test("L1 the oldest due runs are claimed first, over all agents of the worker and none besides", async () => {
  const { store } = await watched();
  for (const [run, agent] of [
    ["r1", "bob"],
    ["r2", "ann"],
    ["r3", "other"],
    ["r4", "bob"],
  ] as const) {
    await store.create(birthOf(run, { agent }));
  }
  const request = { scope: "a" as Scope, agents: ["ann", "bob", "bob"], leaseMs: 1_000, claimId: "c" };
  expect((await store.claim({ ...request, limit: 2 })).map(({ run }) => run)).toEqual(["r1", "r2"]);

  expect(await store.nextDue(request)).toBeGreaterThan(0);
  expect(await store.nextDue({ ...request, agents: [] })).toBeUndefined();
  expect((await store.claim({ ...request, limit: 9, claimId: "c2" })).map(({ run }) => run)).toEqual(["r4"]);
});
