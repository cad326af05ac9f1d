/** What an error of the server or the connection becomes, and what is done about it. */
import { expect, onTestFinished, test } from "vitest";
import type { ErrorCode, HoldfastError } from "../../src/domain/errors.ts";
import type { Claim, Store } from "../../src/ports/store.ts";
import type { Probe } from "../../src/stores/postgres/database.ts";
import { postgresWithProbe } from "../../src/stores/postgres/postgres.ts";
import {
  birthOf,
  claimAll,
  ended,
  headOf,
  keyOf,
  started,
  stepped,
  throwsCode,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { workThrough } from "./clerks.ts";
import { deps, freshStore } from "./shared-server.ts";

interface Watched {
  readonly store: Store;
  readonly claims: readonly Claim[];
  readonly fault: Probe;
}

/** A store with claimed runs, and a fault to be set. */
async function watched(runs: number): Promise<Watched> {
  const { url, schema } = await freshStore();
  const fault: Probe = {};
  const probe: Probe = { before: (sql) => fault.before?.(sql), after: (sql) => fault.after?.(sql) };
  const store = await postgresWithProbe({ url, schema, time: "database" }, probe).open(deps);
  onTestFinished(() => store.close());
  await Promise.all(Array.from({ length: runs }, (_, n) => store.create(birthOf(`r${n}`))));
  return { store, claims: await claimAll(store), fault };
}

function serverError(code: string, severity: string = "ERROR"): Error {
  return Object.assign(new Error(`the server says ${code}`), { code, severity });
}

/** Throws on the first `times` statements that fit. */
function failing(word: string, error: Error, times: number = Number.POSITIVE_INFINITY): (sql: string) => void {
  let left = times;
  return (sql) => {
    const isMeant = word === "COMMIT" ? sql === word : sql.includes(word);
    if (!isMeant || left === 0) return;
    left -= 1;
    throw error;
  };
}

const isSimple = "AS MATERIALIZED (SELECT pg_advisory"; // the statement that commits by itself
const lost = new Error("Connection terminated unexpectedly");

test("a connection that is lost in COMMIT leaves the outcome open, whether it was written or not", async () => {
  const { store, claims, fault } = await watched(2);
  const [first, second] = claims as [Claim, Claim];
  fault.before = failing("COMMIT", lost, 1);
  await throwsCode(write(store, first, { entries: [started(0), ended], after: 1 }), "commit-unknown");
  expect(await headOf(store, first)).toBe(1);
  delete fault.before;
  fault.after = failing("COMMIT", lost, 1);
  await throwsCode(write(store, second, { entries: [started(0), ended], after: 1 }), "commit-unknown");
  expect(await headOf(store, second)).toBe(3);
  fault.after = failing(isSimple, lost, 1);
  await throwsCode(write(store, first, { entries: [started(0)], after: 1 }), "commit-unknown");
  expect(await headOf(store, first)).toBe(2);
});

test("F2 a backend that is shut down in COMMIT leaves the outcome open too; a server that refuses it does not", async () => {
  const { store, claims, fault } = await watched(2);
  const [first, second] = claims as [Claim, Claim];
  fault.after = failing("COMMIT", serverError("57P01", "FATAL"), 1);
  await throwsCode(write(store, first, { entries: [started(0), ended], after: 1 }), "commit-unknown");
  fault.after = () => undefined;
  fault.before = failing("COMMIT", serverError("53100"), 1);
  await throwsCode(write(store, second, { entries: [started(0), ended], after: 1 }), "store-full");
  expect(await headOf(store, second)).toBe(1);
  await write(store, second, { entries: [started(0), ended], after: 1 });
});

test("a connection that is lost before COMMIT is replaced once; then the store is unavailable, for now", async () => {
  const { store, fault } = await watched(1);
  fault.before = failing("BEGIN", lost, 1);
  expect((await store.create(birthOf("again"))).kind).toBe("created");
  fault.before = failing("BEGIN", lost, 2);
  await throwsCode(store.create(birthOf("later")), "store-unavailable");
  expect((await store.create(birthOf("later"))).kind).toBe("created");
});

test("W5 deadlocks, serialization failures and keys that another was first with are tried again as a whole", async () => {
  const { store, fault } = await watched(1);
  for (const [index, code] of ["40P01", "40001", "23505"].entries()) {
    fault.before = failing("COMMIT", serverError(code), 3);
    const births = await Promise.all([0, 1, 2].map((n) => store.create(birthOf(`new-${index}-${n}`))));
    expect(births.map((answer) => answer.kind)).toEqual(["created", "created", "created"]);
  }
});

test("W5 runs never see deadlocks and serialization failures: every seventh write has one, and all runs end once", async () => {
  const { url, schema } = await freshStore();
  let writes = 0;
  const before = (sql: string): void => {
    if (!/^COMMIT|INSERT|UPDATE/.test(sql)) return;
    writes += 1;
    if (writes % 7 === 0) throw serverError(writes % 2 === 0 ? "40001" : "40P01");
  };
  await workThrough({ store: postgresWithProbe({ url, schema }, { before }), runs: 20, steps: 5 });
  expect(writes).toBeGreaterThan(70);
});

test("W6 when the server goes while members are tried alone, no further one is tried", async () => {
  const { store, fault } = await watched(1);
  let begun = 0;
  fault.before = (sql) => {
    if (!sql.startsWith("BEGIN")) return;
    begun += 1;
    throw begun === 1 ? serverError("57014") : lost;
  };
  const births = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => store.create(birthOf(`new-${n}`))));
  const codes = births.map((end) => (end.status === "rejected" ? (end.reason as HoldfastError).code : "created"));
  expect(codes).toEqual(births.map(() => "store-unavailable"));
  expect(begun).toBe(3); // all together, one alone, and once more on another connection
});

const meanings: Record<string, ErrorCode> = {
  "53100": "store-full",
  "53300": "store-busy",
  "55P03": "store-busy",
  "42P01": "store-unavailable",
  "57014": "store-unavailable",
  "26000": "store-unavailable",
  "25006": "store-unavailable",
};

test("S10 a refusal of the server is told by its meaning, for writes and for reads, and nothing stays broken", async () => {
  const { store, fault } = await watched(1);
  for (const [code, meaning] of Object.entries(meanings)) {
    fault.before = failing("", serverError(code));
    await throwsCode(store.create(birthOf(`new-${code}`)), meaning);
    await throwsCode(store.run(keyOf("r0")), meaning);
    delete fault.before;
    expect((await store.create(birthOf(`new-${code}`))).kind).toBe("created");
  }
});

test("S9 of a group that one member breaks all others are written", async () => {
  const { store, claims } = await watched(12);
  const entries = (n: number): readonly ReturnType<typeof stepped>[] => (n === 5 ? [] : [started(0), stepped(n)]);
  const commits = claims.map((claim, n) => ({ ...claim, expectedSeq: 1, entries: entries(n), position: 0 }));
  const taken = { ...birthOf("taken"), key: "start-r0", requestHash: "other" };
  const [answers, conflict] = await Promise.all([
    Promise.allSettled(commits.map((commit) => store.commit(commit))),
    store.create(taken),
  ]);
  expect(conflict).toEqual({ kind: "conflict", run: "r0" });
  expect(answers.map(({ status }) => status)).toEqual(claims.map((_, n) => (n === 5 ? "rejected" : "fulfilled")));
});
