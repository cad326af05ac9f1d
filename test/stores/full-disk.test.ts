import { spawnSync } from "node:child_process";
import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { headOf, said, stepped, throwsCode, write } from "../../src/testing/conformance/store-fixtures.ts";
import { claimedRuns, freshDirectory, sqliteError, watched } from "./watched-store.ts";

test("F2 a full file refuses with store-full, loses nothing, can be read, and takes writes again when there is room", async () => {
  const { store, connection } = await watched();
  const [claim, other] = await claimedRuns(store, 2);
  const pages = connection().get<{ page_count: number }>("PRAGMA page_count")!.page_count;
  connection().get(`PRAGMA max_page_count = ${pages + 5}`);
  let head = 1;
  const fill = async (): Promise<never> => {
    for (;;) head = await write(store, claim!, { entries: [said("x".repeat(3_000))], after: head });
  };
  await throwsCode(fill(), "store-full");
  expect(await headOf(store, claim!)).toBe(head);
  const large = { entries: [said("x".repeat(90_000))], after: head };
  const refused = throwsCode(write(store, claim!, large), "store-full");
  const [neighbour] = await Promise.allSettled([write(store, other!, { entries: [stepped(1)], after: 1 }), refused]);
  await refused;
  expect(await headOf(store, other!)).toBe(neighbour.status === "fulfilled" ? 2 : 1);
  connection().get("PRAGMA max_page_count = 1000000");
  head = await write(store, claim!, large);
  expect(await headOf(store, claim!)).toBe(head);
});

const small = 'mount -t tmpfs -o size=1m tmpfs "$1" && exec "$2" "$3" "$1"';
/** A namespace of its own: the mount goes with the child. */
const unshare = "unshare";
const canMount = spawnSync(unshare, ["-rm", "true"]).status === 0;

test.skipIf(!canMount)(
  "F2 the same holds on a disk that is really full (skipped where no small disk can be mounted)",
  () => {
    const script = new URL("children/fill-disk.ts", import.meta.url).pathname;
    const args = ["-rm", "sh", "-c", small, "sh", freshDirectory(), process.execPath, script];
    const child = spawnSync(unshare, args, { encoding: "utf8" });
    expect(child.stderr.replaceAll(/^\(node.*|^\(Use `node.*/gm, "").trim()).toBe("");
    expect(child.status).toBe(0);
    expect(child.stdout).toMatch(/full at entry \d+/);
  },
);

test("F1–F3 what each SQLite error means to the caller", async () => {
  const { store, fault } = await watched();
  const [claim] = await claimedRuns(store, 1);
  const cases = [
    [13, "COMMIT", "store-full"],
    [778, "INSERT", "store-full"],
    [778, "COMMIT", "commit-unknown"],
    [4874, "BEGIN IMMEDIATE", "store-full"],
    [10, "BEGIN IMMEDIATE", "store-unavailable"],
    [266, "COMMIT", "commit-unknown"],
    [1, "INSERT", "store-unusable"],
    [11, "INSERT", "store-unusable"],
    [21, "INSERT", "store-unusable"],
    [26, "INSERT", "store-unusable"],
    [8, "COMMIT", "store-unavailable"],
  ] as const;
  for (const [code, statement, meaning] of cases) {
    fault.before = (sql) => {
      if (sql.startsWith(statement)) throw sqliteError(code);
    };
    await throwsCode(store.post({ ...claim!, key: `k${code}`, fact: { type: "pause-requested", by: "ana" } }), meaning);
  }
  fault.before = () => undefined;
  expect(await headOf(store, claim!)).toBe(1);
});

test("S10 a read that fails throws, it does not answer none", async () => {
  const { store, fault } = await watched();
  const [claim] = await claimedRuns(store, 1);
  fault.before = (sql) => {
    if (sql.startsWith("SELECT")) throw sqliteError(10);
  };
  await throwsCode(store.run(claim!), "store-unavailable");
  await throwsCode(store.readRun({ ...claim!, after: 0, limit: 1 }), "store-unavailable");
  await throwsCode(store.readThread({ ...claim!, limit: 1 }), "store-unavailable");
});

test("W5 a file that stays busy for half a minute gives store-busy, and nothing was written", async () => {
  const { store, path } = await watched();
  const [claim] = await claimedRuns(store, 1);
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  const waiting = write(store, claim!, { entries: [stepped(1)], after: 1 });
  const now = performance.now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now + 31_000);
  await throwsCode(waiting, "store-busy");
  clock.mockRestore();
  other.exec("COMMIT");
  other.close();
  await write(store, claim!, { entries: [stepped(1)], after: 1 });
  expect(await headOf(store, claim!)).toBe(2);
});
