import { expect, test } from "vitest";
import { priorities } from "../../src/domain/run.ts";
import type { Claim, Store } from "../../src/ports/store.ts";
import { sqlite } from "../../src/sqlite.ts";
import {
  birthOf,
  claimAll,
  headOf,
  settled,
  started,
  stepped,
  throwsCode,
  ticketOf,
  opened as ticketOpened,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { claimedRuns, opened, sqliteError, watched } from "./watched-store.ts";

function commitAll(store: Store, claims: readonly Claim[], after: number): Promise<unknown>[] {
  return claims.map((claim) => write(store, claim, { entries: [stepped(1)], after }));
}

function kinds(results: readonly PromiseSettledResult<unknown>[]): string {
  return results.map((result) => (result.status === "fulfilled" ? "+" : "-")).join("");
}

test("commits that are asked for in one turn share one transaction", async () => {
  const { store, seen } = await watched();
  const claims = await claimedRuns(store, 50);
  seen();
  await Promise.all(commitAll(store, claims, 1));
  const statements = seen();
  expect(statements.filter((sql) => sql === "BEGIN IMMEDIATE")).toHaveLength(1);
  expect(statements.filter((sql) => sql === "COMMIT")).toHaveLength(1);
  expect(statements.filter((sql) => sql.startsWith("INSERT INTO journal"))).toHaveLength(50);
});

test("C1 a lone ordinary commit is one statement", async () => {
  const { store, seen } = await watched();
  const [claim] = await claimedRuns(store, 1);
  let head = await write(store, claim!, { entries: [started(0), settled("done")], after: 1 });
  seen();
  for (let n = 0; n < 5; n += 1) {
    head = await write(store, claim!, { entries: [stepped(n), settled("done")], after: head });
    const statements = seen();
    expect(statements).toHaveLength(1);
    expect(statements[0]).toMatch(/^INSERT INTO journal/);
  }
});

test("S7 a claim looks and takes in one transaction", async () => {
  const { store, seen } = await watched();
  await store.create(birthOf("r1"));
  seen();
  expect(await claimAll(store)).toHaveLength(1);
  const verbs = seen().map((sql) => sql.split(" ")[0]);
  // One seek for each priority, before the transaction and again inside it.
  expect(verbs.filter((verb) => verb === "SELECT")).toHaveLength(2 * priorities.length);
  const turns = verbs.filter((verb, index) => verb !== verbs[index - 1]);
  expect(turns).toEqual(["SELECT", "BEGIN", "SELECT", "UPDATE", "COMMIT"]);
});

test("a claim that finds nothing takes no write lock", async () => {
  const { store, seen } = await watched();
  await claimedRuns(store, 1);
  seen();
  expect(await store.claim({ scope: "a" as never, agents: ["ann"], leaseMs: 1, limit: 1, claimId: "c" })).toEqual([]);
  expect(seen().filter((sql) => !sql.startsWith("SELECT"))).toEqual([]);
});

test("a group has at most 256 members and about a mebibyte", async () => {
  const { store, seen } = await watched();
  const claims = await claimedRuns(store, 600);
  seen();
  await Promise.all(commitAll(store, claims, 1));
  expect(seen().filter((sql) => sql === "COMMIT")).toHaveLength(3);
  const large = { ...ticketOf("x", 1), prompt: "x".repeat(400_000) };
  const four = claims.slice(0, 4);
  await Promise.all(
    four.map((claim) =>
      write(store, claim, {
        entries: [ticketOpened({ ...large, id: `${claim.run}.t` as never, run: claim.run })],
        after: 2,
      }),
    ),
  );
  expect(seen().filter((sql) => sql === "COMMIT")).toHaveLength(2);
});

test("W1, W4 a member that throws is rejected alone, and the rows of the others are there", async () => {
  const { store } = await watched();
  const claims = await claimedRuns(store, 20);
  const ticket = ticketOf("r7", 1);
  await write(store, claims[7]!, { entries: [ticketOpened(ticket)], after: 1 });
  const all = claims.map((claim, n) =>
    write(store, claim, n === 7 ? { entries: [ticketOpened(ticket)], after: 2 } : { entries: [stepped(1)], after: 1 }),
  );
  expect(kinds(await Promise.allSettled(all))).toBe("+++++++-++++++++++++");
  await throwsCode(all[7]!, "illegal-transition");
  for (const claim of claims) expect(await headOf(store, claim)).toBe(2);
});

test("W1, W4 an SQL error in the middle of a group is the culprit's alone", async () => {
  const { store, fault } = await watched();
  const claims = await claimedRuns(store, 5);
  let inserts = 0;
  fault.before = (sql) => {
    if (!sql.startsWith("INSERT INTO journal")) return;
    inserts += 1;
    // The third of the group, and again the third when each is tried alone: 3 in the group, then 5 alone.
    if (inserts === 3 || inserts === 6) throw sqliteError(1);
  };
  const results = await Promise.allSettled(commitAll(store, claims, 1));
  expect(kinds(results)).toBe("++-++");
  for (const [n, claim] of claims.entries()) expect(await headOf(store, claim)).toBe(n === 2 ? 1 : 2);
});

test("W2 nobody is answered before COMMIT has returned", async () => {
  const { store, fault } = await watched();
  const claims = await claimedRuns(store, 3);
  let answered = 0;
  const atCommit: number[] = [];
  fault.before = (sql) => {
    if (sql === "COMMIT") atCommit.push(answered);
  };
  await Promise.all(commitAll(store, claims, 1).map((each) => each.then(() => (answered += 1))));
  expect([atCommit, answered]).toEqual([[0], 3]);
});

test("W6 when COMMIT fails with an open outcome every member throws commit-unknown and nothing is written twice", async () => {
  const { store, fault } = await watched();
  const claims = await claimedRuns(store, 3);
  let failures = 0;
  fault.after = (sql) => {
    if (sql !== "COMMIT" || failures > 0) return;
    failures += 1;
    throw sqliteError(1034); // IOERR_FSYNC, after the frames were written
  };
  for (const each of commitAll(store, claims, 1)) await throwsCode(each, "commit-unknown");
  for (const claim of claims) {
    const [entry, ...rest] = await store.readRun({ ...claim, after: 1, limit: 10 });
    expect([entry?.epoch, rest.length]).toEqual([claim.epoch, 0]);
  }
});

test("W6 a lone commit whose statement fails with an open outcome throws commit-unknown", async () => {
  const { store, fault } = await watched();
  const [claim] = await claimedRuns(store, 1);
  fault.before = (sql) => {
    if (sql.startsWith("INSERT INTO journal")) throw sqliteError(1034);
  };
  await throwsCode(write(store, claim!, { entries: [stepped(1)], after: 1 }), "commit-unknown");
  fault.before = () => undefined;
  await write(store, claim!, { entries: [stepped(1)], after: 1 });
});

test("a failed ROLLBACK is made good before the next write", async () => {
  const { store, fault, path } = await watched();
  const claims = await claimedRuns(store, 2);
  let isFirst = true;
  fault.before = (sql) => {
    if (sql.startsWith("INSERT INTO journal") && isFirst) throw sqliteError(1);
    if (sql === "ROLLBACK" && isFirst) {
      isFirst = false;
      throw sqliteError(10);
    }
  };
  await Promise.all(commitAll(store, claims, 1));
  const other = await opened(sqlite(path)); // this connection alone would also see what was never committed
  for (const claim of claims) expect(await headOf(other, claim)).toBe(2);
});
