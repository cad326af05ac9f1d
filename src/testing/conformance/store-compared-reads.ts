/** What two stores must hold alike: rows after every batch, everything at the end of a list. */
import assert from "node:assert/strict";
import type { Fingerprint, RunId, Scope, ThreadId } from "../../domain/ids.ts";
import type { ReadAll, RunKey, Store } from "../../ports/store.ts";
import type { MessageList, RunFilter, ThreadList } from "../../ports/thread-store.ts";
import { agentNames, type Call, runNames, scopeName, threadNames } from "./store-calls.ts";
import { contentOf } from "./store-fixtures.ts";

export type Reads = Readonly<Record<string, Call>>;

/** Where each store's journal ended before the list: lists share a store, and a read need not walk the others. */
export type FirstPositions = ReadonlyMap<Store, number>;

/** What a command in a scope may have moved: rows, tickets, and when something is due. */
export function rowReads(scope: Scope): Reads {
  const reads: Record<string, Call> = {};
  for (const run of runNames) reads[`run ${run}`] = (store) => store.run({ scope, run: run as RunId });
  for (const agent of agentNames) reads[`nextDue ${agent}`] = (store) => store.nextDue({ scope, agents: [agent] });
  return {
    ...reads,
    figures: async (store) => {
      const { due, dueMs } = await store.figures({ scope });
      return { due, dueMs };
    },
    dueScopes: (store) => dueIn(store, scope),
    tickets: (store) => store.tickets({ scope, limit: 1_000 }),
    contents: (store) => Promise.all([0, 1, 2].map((n) => store.content(contentOf(`c${n}`, scope)))),
    nextDelivery: (store) => store.nextDelivery({ scope }),
    deliveryScopes: (store) => deliveriesIn(store, scope),
    states: (store) =>
      Promise.all(threadNames.map((thread) => store.threadState({ scope, thread: thread as ThreadId }))),
    threads: async (store) => (await store.threads({ scope, order: "oldest", limit: 9 })).map(numberless),
    runs: async (store) => (await store.runs({ scope, order: "newest", limit: 9 })).map(numberless),
  };
}

/** Lists share the store: only what is said about this scope. */
async function dueIn(store: Store, scope: Scope): Promise<unknown> {
  const before = `${scope.slice(0, -1)}` as Scope;
  const { scopes } = await store.dueScopes({ agents: agentNames, after: before, limit: 3 });
  return scopes.filter((each) => each.scope === scope);
}

async function deliveriesIn(store: Store, scope: Scope): Promise<readonly Scope[]> {
  const scopes = await store.deliveryScopes({ after: `${scope.slice(0, -1)}` as Scope, limit: 3 });
  return scopes.filter((each) => each === scope);
}

export function allReads(label: string, first: FirstPositions): Reads {
  const reads: Record<string, Call> = {};
  for (const run of runNames) Object.assign(reads, runReads({ scope: scopeName(label, 0), run: run as RunId }));
  for (const scope of [scopeName(label, 0), scopeName(label, 1)]) {
    reads[`readAll ${scope}`] = (store) => commitsOf(store, { scope }, first.get(store));
    reads[`threads ${scope}`] = (store) => threadPages(store, { scope });
    reads[`runs ${scope}`] = (store) => runPages(store, { scope });
    reads[`manifest ${scope}`] = (store) => store.manifest(scope, "print-bob" as Fingerprint);
  }
  return { ...reads, ...filteredReads(scopeName(label, 0), first) };
}

function runReads(key: RunKey): Reads {
  const name = key.run;
  const reads: Record<string, Call> = {};
  for (const after of [0, 2, 5])
    reads[`readRun ${name} ${after}`] = (store) => store.readRun({ ...key, after, limit: 3 });
  return {
    ...reads,
    [`run ${name}`]: (store) => store.run(key),
    [`readRun ${name}`]: (store) => store.readRun({ ...key, after: 0, limit: 1_000 }),
    [`snapshot ${name}`]: (store) => store.snapshot(key),
    [`evidence ${name}`]: (store) => store.evidence(key),
    [`deliveries ${name}`]: (store) => store.deliveries(key),
    [`open tickets ${name}`]: (store) => store.tickets({ ...key, status: "open", limit: 2 }),
  };
}

function filteredReads(scope: Scope, first: FirstPositions): Reads {
  const reads: Record<string, Call> = { roots: (store) => threadPages(store, { scope, parent: null }) };
  for (const agent of agentNames) {
    reads[`runs ${agent}`] = (store) => runPages(store, { scope, agent });
    reads[`waiting runs ${agent}`] = (store) => runPages(store, { scope, agent, status: "waiting" });
    reads[`done runs ${agent}`] = (store) => runPages(store, { scope, agent, status: "done" });
    reads[`readAll ${agent}`] = (store) => commitsOf(store, { scope, agent }, first.get(store));
  }
  for (const status of ["created", "done"] as const)
    reads[`${status} runs`] = (store) => runPages(store, { scope, status });
  for (const name of threadNames) Object.assign(reads, pagedReads(scope, name as ThreadId));
  return reads;
}

function pagedReads(scope: Scope, thread: ThreadId): Reads {
  const windows: Record<string, Call> = {};
  for (const limit of [1, 3, 1_000])
    windows[`readThread ${thread} ${limit}`] = (store) => store.readThread({ scope, thread, limit });
  return {
    ...windows,
    [`thread ${thread}`]: async (store) => numberless(await store.thread({ scope, thread })),
    [`children ${thread}`]: (store) => threadPages(store, { scope, parent: thread }),
    [`messages ${thread}`]: (store) => messagePages(store, { scope, thread }),
    [`shown messages ${thread}`]: (store) => messagePages(store, { scope, thread, visibility: "all" }),
    [`runs ${thread}`]: (store) => runPages(store, { scope, thread }),
    [`done runs ${thread}`]: (store) => runPages(store, { scope, thread, status: "done" }),
    [`readAll ${thread}`]: (store) => commitsOf(store, { scope, thread }),
    [`readAll ${thread} bob`]: (store) => commitsOf(store, { scope, thread, agent: "bob" }),
  };
}

const orders = ["newest", "oldest"] as const;

/** Numbers may differ between stores; the order may not. */
function numberless<Row extends { readonly no: number }>(row: Row | undefined): Omit<Row, "no"> | undefined {
  if (row === undefined) return undefined;
  const { no: _no, ...rest } = row;
  return rest;
}

interface Place {
  readonly after?: number;
}

/** Every row, by pages of two that are asked for where the page before ended. */
async function walk<Row>(
  read: (place: Place) => Promise<readonly Row[]>,
  placeOf: (row: Row) => number,
): Promise<readonly Row[]> {
  const all: Row[] = [];
  for (let page = await read({}); page.length > 0; ) {
    all.push(...page);
    page = await read({ after: placeOf(page.at(-1) as Row) });
  }
  return all;
}

async function threadPages(store: Store, filter: Pick<ThreadList, "scope" | "parent">): Promise<unknown> {
  const lists = orders.map((order) =>
    walk(
      (place) => store.threads({ ...filter, ...place, order, limit: 2 }),
      (row) => row.no,
    ),
  );
  return (await Promise.all(lists)).map((rows) => rows.map((row) => row.thread));
}

async function runPages(store: Store, filter: RunFilter): Promise<unknown> {
  const lists = orders.map((order) =>
    walk(
      (place) => store.runs({ ...filter, ...place, order, limit: 2 }),
      (row) => row.no,
    ),
  );
  const runs = (await Promise.all(lists)).map((rows) => rows.map((row) => row.run));
  return { runs, count: await store.countRuns(filter) };
}

function messagePages(
  store: Store,
  list: Pick<MessageList, "scope" | "thread" | "visibility">,
): Promise<readonly unknown[]> {
  const lists = orders.map((order) =>
    walk(
      (place) => store.messages({ ...list, ...place, order, limit: 2 }),
      (row) => row.position,
    ),
  );
  return Promise.all(lists);
}

/** Positions may differ between stores; the order may not. */
async function commitsOf(
  store: Store,
  filter: Pick<ReadAll, "scope" | "thread" | "agent">,
  base: number = 0,
): Promise<unknown> {
  const rows = await store.readAll({ ...filter, after: base, limit: 1_000 });
  const positions = rows.map((row) => row.position);
  assert.deepEqual(
    positions,
    positions.toSorted((a, b) => a - b),
  );
  const half = positions[Math.ceil(rows.length / 2) - 1] ?? base;
  const rest = await store.readAll({ ...filter, after: half, limit: 1_000 });
  const erased = await store.erasedUpTo(filter.scope);
  assert.ok((await store.head()) >= Math.max(erased, positions.at(-1) ?? 0));
  return {
    rows: rows.map(({ position: _position, ...row }) => row),
    rest: rest.map(({ run }) => run),
    erased: erased > 0,
    afterErased: positions.filter((position) => position > erased).length,
  };
}
