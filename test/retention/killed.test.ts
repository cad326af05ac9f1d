/** P11: a process that is killed in the middle of pruning has erased each run whole or not at all, and no open one. */
import { spawnSync } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../src/ports/store.ts";
import { sqlite } from "../../src/sqlite.ts";
import {
  birthOf,
  citing,
  claimOne,
  contentOf,
  decisionOn,
  deliveryTo,
  ended,
  inputTo,
  keyOf,
  opened as openedTicket,
  said,
  scopeA,
  started,
  ticketOf,
  waiting,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { freshStore, opened } from "../postgres/shared-server.ts";
import { freshPath } from "../stores/watched-store.ts";
import type { PruneCut, PruneTarget } from "./children/prune-runs.ts";

const finished = ["f1", "f2", "f3", "f4", "f5", "f6"];
const open = ["waits", "delivers", "created"];

/** Something of everything in each run that may go; beside them a run that waits, one with a delivery under way, one that has not begun. */
async function fill(store: Store): Promise<void> {
  const content = contentOf("large");
  await store.putContent(content);
  for (const run of finished) {
    const ticket = ticketOf(run, 1);
    await store.create(birthOf(run));
    const claim = await claimOne(store);
    await write(store, claim, { entries: [started(0), said(`${run}-m`), openedTicket(ticket)], after: 1 });
    await store.post(decisionOn(ticket, "k"));
    await store.post(inputTo(run, "i1"));
    await store.saveSnapshot(keyOf(run), { seq: 1, foldVersion: 1, state: "s" });
    await write(store, claim, { entries: [citing(content), ended], after: 6, position: 1 });
    await store.addEvidence({ ...keyOf(run), kind: "late-result", body: run });
  }
  await store.create(birthOf("waits"));
  await write(store, await claimOne(store), { entries: [started(0), waiting], after: 1 });
  await store.create(birthOf("delivers"));
  const deliveries = [deliveryTo("waits", "i1")];
  await write(store, await claimOne(store), { entries: [started(0), ended], after: 1, deliveries });
  await store.create(birthOf("created"));
}

async function traceOf(store: Store, run: string): Promise<unknown> {
  const key = keyOf(run);
  return {
    row: await store.run(key),
    entries: await store.readRun({ ...key, after: 0, limit: 99 }),
    commits: (await store.readAll({ scope: scopeA, after: 0, limit: 99 })).filter((row) => row.run === run),
    tickets: await store.tickets({ ...key, limit: 9 }),
    snapshot: await store.snapshot(key),
    evidence: await store.evidence(key),
    deliveries: await store.deliveries(key),
  };
}

const nothing = {
  row: undefined,
  entries: [],
  commits: [],
  tickets: [],
  snapshot: undefined,
  evidence: [],
  deliveries: [],
};

async function tracesOf(store: Store, runs: readonly string[]): Promise<Record<string, unknown>> {
  const traces: Record<string, unknown> = {};
  for (const run of runs) traces[run] = await traceOf(store, run);
  return traces;
}

function pruneIn(target: PruneTarget, cut?: PruneCut): NodeJS.Signals | null {
  const script = new URL("children/prune-runs.ts", import.meta.url).pathname;
  const args = [script, JSON.stringify(target), ...(cut ? [JSON.stringify(cut)] : [])];
  const child = spawnSync(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  if (child.status !== 0 && child.signal === null) throw new Error(`The child ended with ${child.status}`);
  return child.signal;
}

interface Place {
  readonly target: PruneTarget;
  readonly store: Store;
}

/** Kills at each cut, then lets another process finish. */
async function killEverywhere({ target, store }: Place, cuts: readonly PruneCut[]): Promise<void> {
  await fill(store);
  const whole = await tracesOf(store, finished);
  const untouched = await tracesOf(store, open);
  for (const cut of cuts) {
    expect(pruneIn(target, cut), JSON.stringify(cut)).toBe("SIGKILL");
    expect(await tracesOf(store, finished)).toEqual(whole);
    expect(await tracesOf(store, open)).toEqual(untouched);
  }
  expect(pruneIn(target, { sql: "COMMIT", nth: 1, when: "after" })).toBe("SIGKILL");
  const left = await tracesOf(store, finished);
  for (const run of finished) expect(left[run]).toEqual(finished.indexOf(run) < 4 ? nothing : whole[run]);
  expect(await tracesOf(store, open)).toEqual(untouched);
  expect(pruneIn(target)).toBeNull();
  for (const run of finished) expect(await traceOf(store, run)).toEqual(nothing);
  expect(await tracesOf(store, open)).toEqual(untouched);
}

test("P11 killed while it prunes a SQLite file: whole or not at all", { timeout: 120_000 }, async () => {
  const path = freshPath();
  const store = await opened(sqlite(path));
  await killEverywhere({ target: { path }, store }, [
    { sql: "DELETE FROM journal", nth: 2, when: "after" },
    { sql: "DELETE FROM runs", nth: 3, when: "after" },
    { sql: "COMMIT", nth: 1, when: "before" },
  ]);
});

test("P11 killed while it prunes on PostgreSQL: whole or not at all", { timeout: 120_000 }, async () => {
  const { url, schema, definition } = await freshStore({ time: "database" });
  const store = await opened(definition);
  await killEverywhere({ target: { url, schema }, store }, [
    { sql: "DELETE FROM hf.runs", nth: 1, when: "after" },
    { sql: "COMMIT", nth: 1, when: "before" },
  ]);
});

test("P11 four that have one SQLite file open prune at once: every finished run is gone, every open one is whole", {
  timeout: 120_000,
}, async () => {
  const path = freshPath();
  const store = await opened(sqlite(path));
  await fill(store);
  const untouched = await tracesOf(store, open);
  const others = await Promise.all(Array.from({ length: 3 }, () => sqlite(path).open(quiet)));
  onTestFinished(() => Promise.all(others.map((other) => other.close())).then(() => undefined));
  const what = { scope: scopeA, ended: { agoMs: 0 }, limit: 2 };
  const erased = await Promise.all([store, ...others].flatMap((each) => [each.prune(what), each.prune(what)]));
  expect(erased.flat().sort()).toEqual(finished);
  expect(await tracesOf(store, open)).toEqual(untouched);
});

const quiet = {
  clock: { now: () => Date.now(), monotonic: () => performance.now(), sleep: () => Promise.resolve() },
  logger: { warn: () => undefined, note: () => undefined },
};
