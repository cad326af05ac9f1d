/**
 * Which page size the SQLite store should have: µs and KB per commit for 2,048, 4,096 and 8,192 bytes, with small and
 * large tool results, at both durabilities, for one run and for many at once.
 *
 *   node bench/page-size.ts [directory]     the directory decides which disk is measured
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EntryBody } from "../src/domain/entry.ts";
import type { EffectId } from "../src/domain/ids.ts";
import type { Claim, Store } from "../src/ports/store.ts";
import { openSqliteStore } from "../src/stores/sqlite/store.ts";
import { birthOf, claimAll, said, started, stepped, text, write } from "../src/testing/conformance/store-fixtures.ts";

const pageSizes = [2048, 4096, 8192];
const resultBytes = [1_500, 20_000];
const durabilities = ["normal", "full"] as const;
const shapes = [
  { runs: 1, steps: 400 },
  { runs: 200, steps: 6 },
];
const repeats = 3;

interface Case {
  readonly pageSize: number;
  readonly bytes: number;
  readonly durability: (typeof durabilities)[number];
  readonly runs: number;
  readonly steps: number;
}

const deps = {
  clock: { now: () => Date.now(), monotonic: () => performance.now(), sleep: () => Promise.resolve() },
  logger: { warn: () => undefined, note: () => undefined },
};

function answerOf(step: number): readonly EntryBody[] {
  const intent: EntryBody = {
    ...{ type: "effect-intended", effect: `e${step}` as EffectId, kind: "tool", step, attempt: 1, key: `k${step}` },
    ...{ startBy: 0, timeoutMs: 60_000 },
  };
  return [stepped(step), said(`m${step}`), intent];
}

function resultOf(step: number, bytes: number): readonly EntryBody[] {
  const message = { ...text(`r${step}`), parts: [{ type: "text", text: "x".repeat(bytes) }] } as const;
  const settled: EntryBody = {
    type: "effect-settled",
    effect: `e${step}` as EffectId,
    attempt: 1,
    result: { kind: "done" },
  };
  return [settled, { type: "message-appended", body: { kind: "here", message } }];
}

async function drive(store: Store, claim: Claim, { steps, bytes }: Case): Promise<void> {
  let head = await write(store, claim, { entries: [started(0)], after: 1 });
  for (let step = 1; step <= steps; step += 1) {
    head = await write(store, claim, { entries: answerOf(step), after: head });
    head = await write(store, claim, { entries: resultOf(step, bytes), after: head });
  }
}

async function measure(directory: string, item: Case, isCounting: boolean): Promise<number> {
  const path = join(mkdtempSync(join(directory, "page-size-")), "runs.db");
  const { pageSize, durability, runs } = item;
  const store = await openSqliteStore(
    { path, pageSize, durability, ...(isCounting ? { checkpointPages: 0 } : {}) },
    deps,
  );
  await Promise.all(Array.from({ length: runs }, (_, n) => store.create(birthOf(`r${n}`))));
  const claims = await claimAll(store, { limit: runs });
  const commits = runs * (item.steps * 2 + 1);
  const sizeBefore = statSync(`${path}-wal`).size;
  const since = performance.now();
  await Promise.all(claims.map((claim) => drive(store, claim, item)));
  const micros = ((performance.now() - since) * 1_000) / commits;
  const kilobytes = (statSync(`${path}-wal`).size - sizeBefore) / 1_024 / commits;
  await store.close();
  rmSync(join(path, ".."), { recursive: true });
  return isCounting ? kilobytes : micros;
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

type Setting = Omit<Case, "pageSize">;

function settings(): readonly Setting[] {
  return shapes.flatMap((shape) =>
    durabilities.flatMap((durability) => resultBytes.map((bytes) => ({ ...shape, durability, bytes }))),
  );
}

async function compare(directory: string, setting: Setting): Promise<void> {
  const times = new Map<number, number[]>(pageSizes.map((pageSize) => [pageSize, []]));
  // Interleaved: a slow minute of the disk then hits every page size alike.
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    for (const [pageSize, all] of times) all.push(await measure(directory, { ...setting, pageSize }, false));
  }
  for (const [pageSize, all] of times) {
    const kilobytes = await measure(directory, { ...setting, pageSize }, true);
    const { runs, durability, bytes } = setting;
    const label = [`${runs}`.padEnd(5), durability.padEnd(11), `${bytes}`.padEnd(7), `${pageSize}`.padEnd(6)].join(" ");
    const spread = all.map((value) => value.toFixed(0)).join(" ");
    console.log(`${label} ${medianOf(all).toFixed(0).padStart(5)} (${spread})`.padEnd(62), kilobytes.toFixed(1));
  }
}

console.log("runs  durability  result  page   µs/commit (median; all)        KB/commit");
for (const setting of settings()) await compare(process.argv[2] ?? tmpdir(), setting);
