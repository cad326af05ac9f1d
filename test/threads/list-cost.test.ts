/** A page costs its length: as many statements and rows among 20,000 threads and runs as among 100, by an index. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { DeclaredManifest } from "../../src/domain/declared-manifest.ts";
import type { RunCreated } from "../../src/domain/entry.ts";
import { defaultScope, type Fingerprint, type MessageId, type RunId, type ThreadId } from "../../src/domain/ids.ts";
import type { Birth } from "../../src/ports/birth.ts";
import type { Store } from "../../src/ports/store.ts";
import type { Page, PageOptions } from "../../src/runtime/pages.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { Connection } from "../../src/stores/sqlite/database.ts";
import { sqliteWithProbe } from "../../src/stores/sqlite/sqlite.ts";
import { silentLogger } from "../../src/testing/test-process.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";

const few = 100;
const many = Number(process.env.HOLDFAST_LIST_ROWS ?? 20_000);
const scope = defaultScope;
/** Has three of four runs, one active and the rest queued: its row counts them. */
const long = "t50" as ThreadId;

type Listing = (runtime: Runtime, page: PageOptions) => Promise<Page<unknown>>;

const listings: Readonly<Record<string, Listing>> = {
  threads: ({ threads }, page) => threads.list(page),
  "threads without a parent": ({ threads }, page) => threads.list({ ...page, parent: null }),
  "children of a thread": ({ threads }, page) => threads.list({ ...page, parent: "t1" }),
  "messages of a thread": ({ threads }, page) => threads.messages("t1", page),
  runs: ({ runs }, page) => runs.list(page),
  "runs of a thread": ({ runs }, page) => runs.list({ ...page, thread: long }),
  "runs of an agent": ({ runs }, page) => runs.list({ ...page, agent: "agent1" }),
  "runs that are created": ({ runs }, page) => runs.list({ ...page, status: "created" }),
  "runs of an agent that are created": ({ runs }, page) => runs.list({ ...page, agent: "agent1", status: "created" }),
};

interface Cost {
  readonly statements: number;
  readonly rows: number;
}

test("a page of any list costs the same among many rows as among few, from its beginning or further on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-lists-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  let cost = { statements: 0, rows: 0 };
  let slowest = 0;
  const asked = new Set<string>();
  const connections: Connection[] = [];
  const probe = {
    opened: (connection: Connection) => void connections.push(connection),
    before: (sql: string) => {
      cost = { ...cost, statements: cost.statements + 1 };
      asked.add(sql);
    },
    after: (_sql: string, rows: number) => {
      cost = { ...cost, rows: cost.rows + rows };
    },
  };
  const definition = sqliteWithProbe(join(folder, "runs.db"), probe, { durability: "normal" });
  await using t = await testRuntime({ store: definition, agents: [] });
  const store = await definition.open({ clock: t.clock, logger: silentLogger });

  async function costOf(list: Listing, page: PageOptions): Promise<Cost> {
    cost = { statements: 0, rows: 0 };
    const began = performance.now();
    await list(t.runtime, page);
    slowest = Math.max(slowest, performance.now() - began);
    return cost;
  }

  async function costs(total: number): Promise<Record<string, Cost>> {
    const found: Record<string, Cost> = {};
    for (const [name, list] of Object.entries(listings)) {
      for (const order of ["newest", "oldest"] as const) {
        found[`${name}, ${order}, first page`] = await costOf(list, { order, limit: 10 });
        const cursor = await middle((page) => list(t.runtime, { ...page, order }), total / 10);
        found[`${name}, ${order}, a later page`] = await costOf(list, { order, limit: 10, cursor });
      }
    }
    return found;
  }

  await grow(store, 1, few);
  const before = await costs(few);
  await grow(store, few + 1, many);
  asked.clear();
  slowest = 0;
  const after = await costs(many);
  console.log(
    `${many} threads and runs: the slowest of ${Object.keys(after).length} pages took ${slowest.toFixed(1)} ms`,
  );
  expect(after).toEqual(before);
  expect(Math.max(...Object.values(after).map(({ rows }) => rows))).toBeLessThan(40);
  expect([...asked].flatMap((sql) => walksAll(sql, connections[0]))).toEqual([]);
  await store.close();
});

/** A cursor so many rows into the list, or at its last page but one. */
async function middle(list: (page: PageOptions) => Promise<Page<unknown>>, rows: number): Promise<string> {
  let cursor = "";
  for (let seen = 0; seen < rows; seen += 1_000) {
    const limit = Math.min(1_000, Math.max(1, rows - seen));
    const { next } = await list({ limit: Math.floor(limit), ...(cursor && { cursor }) });
    if (next === undefined) break;
    cursor = next;
  }
  return cursor || ((await list({ limit: 5 })).next ?? "");
}

/** Steps of a plan that read a whole table, or sort. */
function walksAll(sql: string, connection: Connection | undefined): readonly string[] {
  if (!/^\s*SELECT/i.test(sql)) return [];
  const plan = connection?.all<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${sql}`) ?? [];
  return plan.map(({ detail }) => detail).filter((detail) => /^SCAN (?!CONSTANT|high_water)|TEMP B-TREE/.test(detail));
}

/** Every other thread is a root, the rest are children of the first; one run each, most of them on one thread. */
async function grow(store: Store, from: number, to: number): Promise<void> {
  for (let at = from; at <= to; at += 500) {
    const numbers = Array.from({ length: Math.min(500, to - at + 1) }, (_, index) => at + index);
    const [first] = numbers;
    if (first === 1) await store.createThread({ scope, thread: "t1" as ThreadId, history: history() });
    await Promise.all(
      numbers
        .filter((number) => number > 1)
        .map((number) => {
          const lineage = number % 2 === 0 ? {} : { parent: "t1" as ThreadId };
          return store.createThread({ scope, thread: `t${number}` as ThreadId, ...lineage });
        }),
    );
    await Promise.all(numbers.map((number) => store.create(birth(number))));
  }
}

const manifest: DeclaredManifest = {
  format: 1,
  agent: "agent1",
  version: "1",
  model: { provider: "none", model: "none" },
  instructions: { kind: "text", text: "" },
  tools: [],
  context: null,
  budget: { steps: 1 },
  declaredBy: { holdfast: "0" },
};

function birth(number: number): Birth {
  const run = `r${number}` as RunId;
  const thread = number % 4 === 0 ? (`t${number}` as ThreadId) : long;
  return { key: run, requestHash: run, manifest, entry: created(run, thread, `agent${number % 3}`) };
}

function created(run: RunId, thread: ThreadId, agent: string): RunCreated {
  return {
    type: "run-created",
    identity: { scope, run, thread, agent, rootRun: run, origin: "user", mode: "foreground", adapter: "internal" },
    request: { origin: "user", key: run, inputIds: [], inputCount: 0 },
    input: [],
    manifest: { fingerprint: "f" as Fingerprint },
    budget: { steps: 1 },
  };
}

/** So many messages on the first thread that its pages have a middle. */
function history(): NonNullable<Parameters<Store["createThread"]>[0]["history"]> {
  const run = "imported" as RunId;
  const input = Array.from({ length: 200 }, (_, index) => {
    return { id: `m${index}` as MessageId, role: "user", parts: [], visibility: "all" } as const;
  });
  const entry = { ...created(run, "t1" as ThreadId, "holdfast.import"), input };
  return {
    birth: { key: run, requestHash: run, manifest, entry },
    rest: [
      { type: "run-started", position: 0 },
      ...input.map((_, index) => ({ type: "message-appended", body: { kind: "created", index } }) as const),
      { type: "run-ended", outcome: { kind: "completed", reason: "requested" } },
    ],
  };
}
