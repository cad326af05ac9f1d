/** H3: what is erased is gone from every table, and every table has been thought of. */
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { agent, createRuntime } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { sqlite } from "../../src/sqlite.ts";
import type { Connection } from "../../src/stores/sqlite/database.ts";
import { tablesOfRun } from "../../src/stores/sqlite/erasure.ts";
import {
  birthOf,
  changed,
  citing,
  claimOne,
  contentOf,
  decisionOn,
  deliveryTo,
  ended,
  inputTo,
  keyOf,
  opened,
  said,
  started,
  threadKey,
  ticketOf,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { deps, freshPath, watched } from "./watched-store.ts";

/** They outlive runs and threads: no row of theirs belongs to one. */
const kept = ["migrations", "manifests", "content", "high_water", "erasures", "workers"];
const erased = ["journal", "runs", "threads", "thread_notes", "thread_state", "start_keys", ...tablesOfRun];

function tablesOf(db: Connection): readonly string[] {
  const rows = db.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  return rows.map((row) => row.name);
}

function countsOf(db: Connection, tables: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    tables.map((name) => [name, db.get<{ n: number }>(`SELECT count(*) AS n FROM ${name}`)!.n] as const),
  );
}

test("every table is erased with the run or thread it belongs to, or belongs to none", async () => {
  const { connection } = await watched();
  expect(tablesOf(connection())).toEqual([...kept, ...erased].sort());
});

test("H3 of a deleted thread no row is left in any table, but for one empty row that keeps the positions", async () => {
  const { store, connection } = await watched();
  const ticket = ticketOf("r1", 1);
  await store.createThread({ ...threadKey("t"), title: "T" });
  await store.create(birthOf("r1", { thread: "t" }));
  const claim = await claimOne(store);
  await write(store, claim, { entries: [started(0), said("secret"), opened(ticket)], after: 1 });
  await store.post({ ...decisionOn(ticket, "k"), start: { key: "s", requestHash: "h" } });
  await store.post(inputTo("r1", "i1"));
  await store.saveSnapshot(keyOf("r1"), { seq: 1, foldVersion: 1, state: "secret" });
  const deliveries = [deliveryTo("other", "i2")];
  const content = contentOf("a large secret");
  await store.putContent(content);
  const entries = [changed("k", "secret"), citing(content), ended];
  await write(store, claim, { entries, after: 6, position: 1, deliveries });
  await store.addEvidence({ ...keyOf("r1"), kind: "late-result", body: "secret" });
  const db = connection();
  for (const [table, count] of Object.entries(countsOf(db, erased)))
    expect(`${table} ${count > 0}`).toBe(`${table} true`);
  await store.deleteThread({ ...threadKey("t"), children: "reject" });
  expect(countsOf(db, erased)).toEqual({ ...Object.fromEntries(erased.map((table) => [table, 0])), journal: 1 });
  expect(db.get("SELECT thread, run, n, m, body FROM journal")).toEqual({ thread: 0, run: 0, n: 0, m: 0, body: "[]" });
  await store.create(birthOf("r2", { thread: "t" }));
  await write(store, await claimOne(store), { entries: [ended], after: 1 });
  await store.eraseRun(keyOf("r2"));
  expect(countsOf(db, ["journal"])).toEqual({ journal: 1 });
});

test("H3 an erasure that fails in the middle erases nothing", async () => {
  const { store, connection, fault } = await watched();
  await store.create(birthOf("r1", { thread: "t" }));
  await write(store, await claimOne(store), { entries: [started(0), said("m"), changed("k", 1), ended], after: 1 });
  const before = countsOf(connection(), erased);
  const deletions = ["DELETE FROM journal", "DELETE FROM runs", "INSERT INTO journal", "DELETE FROM threads"];
  for (const broken of deletions) {
    fault.before = (sql) => {
      if (sql.startsWith(broken)) throw Object.assign(new Error("broken"), { errcode: 1 });
    };
    await expect(store.deleteThread({ ...threadKey("t"), children: "cascade" })).rejects.toThrow();
    fault.before = () => undefined;
    expect(countsOf(connection(), erased)).toEqual(before);
  }
  expect(await store.deleteThread({ ...threadKey("t"), children: "cascade" })).toMatchObject({ kind: "deleted" });
});

test("O3 an erased text is neither in the file nor in its WAL, before and after close", async () => {
  const path = freshPath();
  const secret = "the-secret-of-ana-4711";
  const told = agent({ name: "told", model: scripted(["ok"]), instructions: "" });
  const runtime = await createRuntime({ agents: [told], store: sqlite(path), logger: deps.logger });
  const holdsSecret = (): boolean =>
    [path, `${path}-wal`].some((file) => existsSync(file) && readFileSync(file).includes(secret));
  const run = await runtime.start(told, secret);
  await run.result();
  expect(holdsSecret()).toBe(true);
  await runtime.runs.erase(run.id);
  expect(holdsSecret()).toBe(false);
  await runtime.close();
  expect(holdsSecret()).toBe(false);
});
