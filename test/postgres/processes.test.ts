/** Several real processes on one schema. */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { inSchema } from "../../src/stores/postgres/database.ts";
import {
  birthOf,
  claimOne,
  keyOf,
  opened as openedTicket,
  started,
  ticketOf,
  waiting,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { findBroken } from "./clerks.ts";
import { freshStore, opened, query } from "./shared-server.ts";

interface Child {
  readonly process: ChildProcess;
  readonly exit: Promise<number | null>;
  says(word: string): Promise<void>;
  /** What it said after it was ready. */
  lines(): readonly string[];
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
  return { process: child, exit, says, lines: () => text.trim().split("\n").slice(1) };
}

/** Starts them, lets them begin at once, and waits for all. */
async function race(children: readonly Child[]): Promise<readonly string[]> {
  await Promise.all(children.map((child) => child.says("ready")));
  for (const child of children) child.process.stdin?.write("go\n");
  const codes = await Promise.all(children.map((child) => child.exit));
  expect(codes).toEqual(codes.map(() => 0));
  return children.flatMap((child) => child.lines());
}

test("S7 three processes claim 600 runs: each has exactly one owner", async () => {
  const { url, schema, definition } = await freshStore({ time: "database" });
  const store = await opened(definition);
  await Promise.all(Array.from({ length: 600 }, (_, n) => store.create(birthOf(`r${n}`))));
  const lines = await race(["one", "two", "three"].map((name) => start("claim-runs.ts", url, schema, name)));
  expect(lines).toHaveLength(600);
  expect(new Set(lines)).toEqual(new Set(Array.from({ length: 600 }, (_, n) => `r${n} 1`)));
});

test("S5 of a hundred answers from four processes one settles the ticket, and everyone learns which", async () => {
  const { url, schema, definition } = await freshStore({ time: "database" });
  const store = await opened(definition);
  await store.create(birthOf("r1"));
  const entries = [started(0), openedTicket(ticketOf("r1", 1)), waiting];
  await write(store, await claimOne(store), { entries, after: 1 });
  const lines = await race(["a", "b", "c", "d"].map((name) => start("decide.ts", url, schema, name)));
  expect(lines).toHaveLength(100);
  expect(lines.filter((line) => line.startsWith("posted"))).toHaveLength(1);
  expect(new Set(lines.map((line) => line.split(" ").slice(1).join(" "))).size).toBe(1);
  expect((await store.run(keyOf("r1")))?.head).toBe(5);
});

const churnMs = Number(process.env.HOLDFAST_CHURN_MS ?? 8_000);

test(`runs that are queued, cancelled, ended and promoted on four threads by four processes for ${churnMs} ms: no call fails`, {
  timeout: churnMs + 60_000,
}, async () => {
  const { url, schema, definition } = await freshStore({ time: "database" });
  await opened(definition);
  process.env.CHURN_MS = String(churnMs);
  const deadlocks = "SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()";
  const before = await query(url, deadlocks);
  const lines = await race(["one", "two", "three", "four"].map((name) => start("churn.ts", url, schema, name)));
  const counts: Record<string, number> = {};
  for (const line of lines) {
    for (const [kind, n] of Object.entries(JSON.parse(line) as Record<string, number>))
      counts[kind] = (counts[kind] ?? 0) + n;
  }
  expect(Object.keys(counts).sort()).toEqual(["birth", "claim", "end", "post"]);
  expect(counts.end).toBeGreaterThan(50);
  expect(await query(url, deadlocks)).toEqual(before);
  expect(await query(url, inSchema(findBroken, schema))).toEqual([]);
  const twoActive = `SELECT thread FROM hf.runs WHERE NOT queued AND status <> 'done' GROUP BY thread HAVING count(*) > 1`;
  expect(await query(url, inSchema(twoActive, schema))).toEqual([]);
  const stranded = `SELECT id FROM hf.threads WHERE active IS NULL AND EXISTS (
    SELECT FROM hf.runs WHERE thread = threads.no AND status <> 'done')`;
  expect(await query(url, inSchema(stranded, schema))).toEqual([]);
});
