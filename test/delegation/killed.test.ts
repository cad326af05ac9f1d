/**
 * C1, C2, C5 with real processes: the workers of a run, of its child and of its child's children are killed again and again,
 * while they work and while they wait; somebody at the root answers what is asked below.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createRuntime } from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import { freshDirectory, freshPath } from "../stores/watched-store.ts";
import { family } from "./children/family.ts";
import type { WorkerTarget } from "./children/worker.ts";

function work(target: WorkerTarget): ChildProcess {
  const script = new URL("children/worker.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, JSON.stringify(target)], { stdio: ["ignore", "inherit", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  if (child.signalCode === null && child.exitCode === null) await once(child, "exit");
}

/** Somebody dies whenever the journals have grown by so much. */
const everyEntries = 19;

test("killed again and again at every level, each call has one child and one result, and each payment is made once", async () => {
  const target = { path: freshPath(), folder: freshDirectory() };
  const lead = family(target.folder);
  await using desk = await createRuntime({ store: sqlite(target.path), pollMs: 20 });
  const run = await desk.start(lead, "Go");
  const result = run.result();
  let isOver = false;
  result.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  const heads = async (): Promise<number> => {
    const { items } = await desk.runs.list({ limit: 100 });
    return items.reduce((sum, { head }) => sum + head, 0);
  };
  const workers = [work(target), work(target)];
  let kills = 0;
  for (let seen = await heads(); !isOver; seen = await heads()) {
    while (!isOver && (await heads()) < seen + everyEntries) {
      const open = await desk.tickets.list({ root: run.id, kind: "approval", status: "open" });
      await Promise.all(open.map((ticket) => ticket.approve({ by: "ana" })));
      await delay(10);
    }
    const dying = kills % 3 === 1 ? [0, 1] : [kills % 2]; // now and then nobody is left
    for (const index of dying) {
      await kill(workers[index] as ChildProcess);
      if (!isOver) workers[index] = work(target);
    }
    kills += 1;
  }
  expect(await result).toMatchObject({ outcome: "completed", output: "All done." });
  expect(kills).toBeGreaterThan(1);
  const { items } = await desk.runs.list({ order: "oldest", limit: 100 });
  expect(items.map(({ agent }) => agent).sort()).toEqual(["clerk", "clerk", "lead", "middle"]);
  expect(items.every(({ status }) => status === "done")).toBe(true);
  expect(readdirSync(target.folder)).toHaveLength(2);
  expect(await desk.tickets.list({ root: run.id, status: "open" })).toEqual([]);
}, 90_000);
