/**
 * D2, and D1 of the seed's invariants, with real processes. Killed between a delivery and its record, nobody knows that it was
 * made: it is made again with the same key (where the seed would ask, see the decision note on sinks). Completed, it is never
 * made again.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { RunId, Scope } from "../../src/domain/ids.ts";
import { createRuntime } from "../../src/index.ts";
import type { Store } from "../../src/ports/store.ts";
import { postgres } from "../../src/postgres.ts";
import { sqlite } from "../../src/sqlite.ts";
import { freshStore } from "../postgres/shared-server.ts";
import { freshDirectory, freshPath, opened } from "../stores/watched-store.ts";
import { teller } from "./children/agent.ts";
import type { TellerTarget } from "./children/teller.ts";

function work(target: TellerTarget): ChildProcess {
  const script = new URL("children/teller.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, JSON.stringify(target)], { stdio: ["ignore", "inherit", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function endOf(child: ChildProcess): Promise<NodeJS.Signals | null> {
  if (child.signalCode === null && child.exitCode === null) await once(child, "exit");
  return child.signalCode;
}

interface Place {
  readonly store: Store;
  readonly where: TellerTarget["store"];
}

/** Dies before the first attempt, after the second; then two live on. */
async function killAround({ store, where }: Place): Promise<void> {
  const file = join(freshDirectory(), "told");
  const desk = await createRuntime({ store: "path" in where ? sqlite(where.path) : postgres(where) });
  onTestFinished(() => desk.close());
  const lines = (): readonly string[] =>
    existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1).sort() : [];
  const left = async (run: RunId): Promise<number> =>
    (await store.deliveries({ scope: "default" as Scope, run })).length;

  const { id } = await desk.start(teller, "go");
  expect(await endOf(work({ store: where, file, die: "before" }))).toBe("SIGKILL");
  expect([lines(), await left(id)]).toEqual([[], 1]);
  expect(await endOf(work({ store: where, file, die: "after" }))).toBe("SIGKILL");
  expect([lines().length, await left(id)]).toEqual([1, 1]);

  const survivors = [work({ store: where, file }), work({ store: where, file })];
  await expect.poll(() => left(id), { timeout: 20_000 }).toBe(0);
  const [key] = lines()[0]?.split(" ") ?? [];
  expect(lines()).toEqual([`${key} 2`, `${key} 3`]);

  survivors[0]?.kill("SIGKILL");
  const next = await desk.start(teller, "go");
  await next.result();
  await expect.poll(() => left(next.id), { timeout: 20_000 }).toBe(0);
  expect(lines().filter((line) => line.startsWith(`${key} `))).toHaveLength(2);
  expect(lines()).toHaveLength(3);
}

test("D1, D2 killed before a delivery, and between it and its record, on a SQLite file", {
  timeout: 60_000,
}, async () => {
  const path = freshPath();
  await killAround({ store: await opened(sqlite(path)), where: { path } });
});

// The lane is the same code; what the store promises of it is in its conformance suite.
const onPostgres = process.env.HOLDFAST_POSTGRES_SINKS === "true";

test.runIf(onPostgres)(
  "D1, D2 killed before a delivery, and between it and its record, on PostgreSQL",
  { timeout: 60_000 },
  async () => {
    const { url, schema, definition } = await freshStore({ time: "database" });
    await killAround({ store: await opened(definition), where: { url, schema } });
  },
);
