import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ErrorCode } from "../../src/domain/errors.ts";
import { sqlite } from "../../src/sqlite.ts";
import { isAtLeast } from "../../src/stores/sqlite/open-database.ts";
import { birthOf, keyOf, throwsCode } from "../../src/testing/conformance/store-fixtures.ts";
import { deps, freshDirectory, freshPath, opened, watched } from "./watched-store.ts";

/** Every byte beside the shared-memory index, which is rebuilt and belongs to no one. */
function bytesIn(directory: string): Record<string, string> {
  const names = readdirSync(directory).filter((name) => !name.endsWith("-shm"));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name)).toString("base64")]));
}

async function makeFile(path: string): Promise<void> {
  const store = await sqlite(path).open(deps);
  await store.create(birthOf("r1"));
  await store.close();
}

function change(path: string, sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

async function refusedUntouched(path: string, code: ErrorCode): Promise<void> {
  const before = bytesIn(dirname(path));
  await throwsCode(sqlite(path).open(deps), code);
  const { [`${path.split("/").at(-1)}-wal`]: wal = "", ...after } = bytesIn(dirname(path));
  const { [`${path.split("/").at(-1)}-wal`]: walBefore = "", ...rest } = before;
  expect(after).toEqual(rest);
  expect(wal).toBe(walBefore);
}

test("N1 a newer schema is refused before a byte is written", async () => {
  const path = freshPath();
  await makeFile(path);
  change(path, "INSERT INTO migrations VALUES (2, 'from the future', 'x', 0)");
  await refusedUntouched(path, "store-newer");
});

test("N1 a newer schema that is still in the WAL is refused, and the WAL is not folded into the file", async () => {
  const path = freshPath();
  await makeFile(path);
  const other = new DatabaseSync(path);
  other.exec("INSERT INTO migrations VALUES (2, 'from the future', 'x', 0)");
  await refusedUntouched(path, "store-newer");
  other.close();
});

test("N1 a changed migration is refused before a byte is written", async () => {
  const path = freshPath();
  await makeFile(path);
  change(path, "UPDATE migrations SET checksum = 'other' WHERE number = 1");
  await refusedUntouched(path, "store-unusable");
});

test("N1 a SQLite file of another program is refused before a byte is written", async () => {
  const path = freshPath();
  change(path, "CREATE TABLE notes (text)");
  await refusedUntouched(path, "store-unusable");
});

test("a file that is no database is refused, and the error names it", async () => {
  const path = freshPath();
  writeFileSync(path, "not a database, ".repeat(1_000));
  await refusedUntouched(path, "store-unusable");
  await expect(sqlite(path).open(deps)).rejects.toThrow(path);
});

test("a directory, or a file in a directory that is not there, is refused, and the error names it", async () => {
  const directory = freshDirectory();
  mkdirSync(join(directory, "sub"));
  for (const path of [join(directory, "sub"), join(directory, "none", "runs.db")]) {
    await throwsCode(sqlite(path).open(deps), "store-unusable");
    await expect(sqlite(path).open(deps)).rejects.toThrow(path);
  }
});

test("wrong options are refused at once, all of them by name", () => {
  const wrong = { durability: "none", wal: false } as never;
  expect(() => sqlite("", wrong)).toThrow(/path.*durability|durability.*path/s);
  expect(() => sqlite("runs.db", { sync: "full" } as never)).toThrow(/sync: unknown option/);
  for (const path of ["", ":memory:", "file:runs.db", 7 as never]) expect(() => sqlite(path)).toThrow(/path/);
});

test("O2 journal, durability and page size are in force", async () => {
  for (const [durability, level, full] of [
    ["full", 2, 1],
    ["normal", 1, 0],
  ] as const) {
    const { connection } = await watched({ durability });
    expect(connection().get("PRAGMA journal_mode")).toMatchObject({ journal_mode: "wal" });
    expect(connection().get("PRAGMA synchronous")).toMatchObject({ synchronous: level });
    expect(connection().get("PRAGMA fullfsync")).toMatchObject({ fullfsync: full });
    expect(connection().get("PRAGMA secure_delete")).toMatchObject({ secure_delete: 1 });
    expect(connection().get("PRAGMA journal_size_limit")).toMatchObject({ journal_size_limit: 64 * 1024 * 1024 });
    expect(connection().get("PRAGMA page_size")).toMatchObject({ page_size: 4096 });
    expect(connection().get("PRAGMA busy_timeout")).toMatchObject({ timeout: 0 });
  }
});

test("an empty file becomes a store, and two processes' worth of opens agree on it", async () => {
  const path = freshPath();
  writeFileSync(path, "");
  const stores = await Promise.all(Array.from({ length: 5 }, () => opened(sqlite(path))));
  await stores[0]!.create(birthOf("r1"));
  for (const store of stores) expect((await store.run(keyOf("r1")))?.head).toBe(1);
});

test("a SQLite that is too old is told from one that is not", () => {
  const least = [3, 51, 3];
  expect(["3.51.3", "3.51.10", "3.53.4", "4.0.0"].filter((version) => !isAtLeast(version, least))).toEqual([]);
  expect(["3.51.2", "3.50.9", "2.99.99", "3.51", ""].filter((version) => isAtLeast(version, least))).toEqual([]);
});

test("on a Node without SQLite the store says which one it needs, when it is made", () => {
  const found = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined as never);
  onTestFinished(() => found.mockRestore());
  expect(() => sqlite("runs.db")).toThrow(
    expect.objectContaining({ code: "node-too-old", message: expect.stringContaining("needs Node 22.18 or newer") }),
  );
});

test("nothing of the store is imported that an older Node does not have", () => {
  const folder = resolve(import.meta.dirname, "../../src/stores/sqlite");
  for (const file of readdirSync(folder)) {
    expect(readFileSync(join(folder, file), "utf8")).not.toMatch(/^import (?!type).*from "node:sqlite"/m);
  }
});
