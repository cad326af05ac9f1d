/** Several real processes on one file. */
import { type ChildProcess, spawn } from "node:child_process";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { RunId, Scope } from "../../src/domain/ids.ts";
import { sqlite } from "../../src/sqlite.ts";
import { birthOf, headOf, keyOf, stepped, write } from "../../src/testing/conformance/store-fixtures.ts";
import { claimedRuns, freshPath, opened } from "./watched-store.ts";

interface Child {
  readonly process: ChildProcess;
  readonly exit: Promise<number | null>;
  text(): string;
  says(word: string): Promise<void>;
}

function start(script: string, ...args: readonly string[]): Child {
  const path = new URL(`children/${script}`, import.meta.url).pathname;
  const child = spawn(process.execPath, [path, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  const says = async (word: string): Promise<void> => {
    while (!text.includes(word)) await delay(5);
  };
  return { process: child, exit, text: () => text, says };
}

test("W5 while another process holds the file, writes wait without blocking the event loop, and none is lost", async () => {
  const path = freshPath();
  const store = await opened(sqlite(path, { durability: "normal" }));
  const claims = await claimedRuns(store, 20);
  const holder = start("hold-lock.ts", path, "3000");
  await holder.says("held");
  let lag = 0;
  let last = performance.now();
  const ticking = setInterval(() => {
    lag = Math.max(lag, performance.now() - last - 5);
    last = performance.now();
  }, 5);
  const since = performance.now();
  const writes = claims.map(async (claim, n) => {
    await delay(n * 100);
    await write(store, claim, { entries: [stepped(1)], after: 1 });
    return performance.now() - since;
  });
  await delay(500);
  expect(await headOf(store, claims[0]!)).toBe(1); // a read waits for nobody
  const times = await Promise.all(writes);
  clearInterval(ticking);
  expect(Math.min(...times)).toBeGreaterThan(2_000);
  expect(lag).toBeLessThan(500); // a blocking wait would be seconds; the machine itself may stall a little
  for (const claim of claims) expect(await headOf(store, claim)).toBe(2);
  expect(await holder.exit).toBe(0);
});

test("S7 two processes claim 500 runs: each has exactly one owner", async () => {
  const path = freshPath();
  const store = await opened(sqlite(path, { durability: "normal" }));
  await Promise.all(Array.from({ length: 500 }, (_, n) => store.create(birthOf(`r${n}`))));
  const children = ["one", "two"].map((name) => start("claim-runs.ts", path, name));
  await Promise.all(children.map((child) => child.says("ready")));
  for (const child of children) child.process.stdin?.write("go\n");
  await Promise.all(children.map((child) => child.exit));
  const lines = children.map((child) => child.text().trim().split("\n").slice(1));
  expect(lines.flat()).toHaveLength(500);
  expect(new Set(lines.flat())).toEqual(new Set(Array.from({ length: 500 }, (_, n) => `r${n} 1`)));
  const row = await store.run(keyOf("r499"));
  expect([row?.epoch, row?.crashes]).toEqual([1, 1]);
});

test("S1 after SIGKILL while writing, no seq is missing and everything acknowledged is there", async () => {
  const path = freshPath();
  let acknowledged = 0;
  for (let round = 0; round < 6; round += 1) {
    const child = start("write-runs.ts", path, `k${round}`);
    await child.says("ready");
    await delay(40 + round * 37);
    child.process.kill("SIGKILL");
    await child.exit;
    const store = await sqlite(path).open({
      clock: { now: () => Date.now(), monotonic: () => performance.now(), sleep: () => Promise.resolve() },
      logger: { warn: () => undefined, note: () => undefined },
    });
    const heads = new Map(child.text().trim().split("\n").slice(1).map(lineOf));
    acknowledged += heads.size;
    for (let n = 0; n < 8; n += 1) {
      const key = { scope: "a" as Scope, run: `k${round}-${n}` as RunId };
      const entries = await store.readRun({ ...key, after: 0, limit: 100_000 });
      expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_, index) => index + 1));
      expect(entries.length).toBeGreaterThanOrEqual(heads.get(key.run) ?? 1);
    }
    await store.close();
  }
  expect(acknowledged).toBeGreaterThan(20);
  const db = new DatabaseSync(path);
  expect(db.prepare("PRAGMA integrity_check").get()).toMatchObject({ integrity_check: "ok" });
  db.close();
});

function lineOf(line: string): [string, number] {
  const [run = "", head = "0"] = line.split(" ");
  return [run, Number(head)];
}
