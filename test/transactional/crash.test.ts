/**
 * X1, X2 at every port call: whatever is cut, in whatever way, a call that has a result has exactly one row, and one that
 * has failed has none. A few of the cuts each time, or all with HOLDFAST_CRASH_ALL=1.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { RunId, Scope } from "../../src/domain/ids.ts";
import { readAfter } from "../../src/engine/load.ts";
import type { Store, StoreDefinition } from "../../src/ports/store.ts";
import { sqlite } from "../../src/sqlite.ts";
import { type CrashOptions, type CrashReport, crashEverywhere } from "../../src/testing/crash-kit.ts";
import type { CrashScenario } from "../../src/testing/crash-scenario.ts";
import { pooledStore } from "../postgres/pooled-store.ts";
import { deps, query } from "../postgres/shared-server.ts";
import { resultsIn } from "./bookings.ts";
import { bookerOnPostgres, bookerOnSqlite, bookings, crashScenarios, type Play } from "./crash-scenarios.ts";

const all = process.env.HOLDFAST_CRASH_ALL === "1";
const seed = process.env.HOLDFAST_CRASH_SEED ?? "1";
const sampled = (cuts: number): CrashOptions => (all ? {} : { sample: { cuts, seed } });

interface Place {
  readonly definition: StoreDefinition;
  /** `scope run` of every run there is. */
  runs(): Promise<readonly { readonly scope: Scope; readonly id: RunId }[]>;
  /** `scope call what` of every row. */
  rows(): Promise<readonly string[]>;
}

interface Playing extends CrashOptions {
  readonly scenario: CrashScenario;
}

/** Plays it cut everywhere, then holds all rows against all results. */
async function playIn(place: Place, play: Play, { scenario, ...options }: Playing): Promise<CrashReport> {
  const around: CrashOptions["around"] = () => (call, proceed) => {
    const { scope } = (call.args[0] ?? {}) as { readonly scope?: string };
    if (call.port === "store" && scope !== undefined) play.scope = scope;
    return proceed();
  };
  const report = await crashEverywhere(scenario, { ...options, store: place.definition, around });
  const store = await place.definition.open(deps);
  try {
    expect(await place.rows()).toEqual(await bookedIn(store, place));
  } finally {
    await store.close();
  }
  return report;
}

/** `scope call what` of every result that says that something was booked. */
async function bookedIn(store: Store, place: Place): Promise<readonly string[]> {
  const booked: string[] = [];
  for (const { scope, id } of await place.runs()) {
    const results = (await readAfter({ scope, run: id }, 0, store)).flatMap(resultsIn);
    for (const { call, result } of results) {
      const { booked: what } = (result.kind === "value" ? result.value : {}) as { readonly booked?: string };
      if (what !== undefined) booked.push(`${scope} ${call} ${what}`);
    }
  }
  return booked.sort();
}

function check(report: CrashReport, leastCuts: number): void {
  expect(report.failures).toEqual([]);
  expect(report.uncut.unknown).toEqual([]);
  expect(report.uncut.runs.map(({ outcome }) => outcome)).toEqual(["completed"]);
  // A prepare that throws fails its call; what it comes to is checked against the rows.
  expect(Object.keys(report.unjudged).filter((label) => !/^tool\.(execute|reconcile) /.test(label))).toEqual([]);
  expect(report.possible).toBeGreaterThanOrEqual(leastCuts);
}

/** Ways to cut that there must be at least, per scenario: a call that no longer passes a port is no longer cut. */
const floors = [100, 100, 150];

describe("on SQLite", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-transactional-crash-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const play: Play = { scope: "" };
  for (const [index, scenario] of crashScenarios(bookerOnSqlite(play)).entries()) {
    test(`X1 ${scenario.name}: cut anywhere, rows and results are the same`, async () => {
      const file = join(folder, `${index}.db`);
      const definition = sqlite(file, { durability: "normal" });
      await definition.open(deps).then((store) => store.close());
      const db = new DatabaseSync(file);
      onTestFinished(() => db.close());
      db.exec(`CREATE TABLE ${bookings}`);
      const ask: Asking["ask"] = async <Row>(sql: string) =>
        db.prepare(sql).all() as readonly unknown[] as readonly Row[];
      const place = placeOf(definition, { ask, runs: "runs", bookings: "bookings" });
      const report = await playIn(place, play, { scenario, ...sampled(70) });
      console.log(`sqlite: ${scenario.name}: ${report.cuts} of ${report.possible} cuts`);
      check(report, floors[index] ?? Number.POSITIVE_INFINITY);
    });
  }
});

describe("on Postgres", () => {
  const play: Play = { scope: "" };
  const names: { table: string } = { table: "" };
  for (const [index, scenario] of crashScenarios(bookerOnPostgres(play, names)).entries()) {
    test(`X1 ${scenario.name}: cut anywhere, rows and results are the same`, async () => {
      const store = await pooledStore();
      onTestFinished(() => store.close());
      names.table = `${store.schema}.bookings`;
      await query(store.url, `CREATE TABLE ${store.schema}.${bookings}`);
      const ask: Asking["ask"] = (sql) => query(store.url, sql);
      const place = placeOf(store, { ask, runs: `${store.schema}.runs`, bookings: names.table });
      const report = await playIn(place, play, { scenario, ...sampled(6) });
      console.log(`postgres: ${scenario.name}: ${report.cuts} of ${report.possible} cuts`);
      check(report, floors[index] ?? Number.POSITIVE_INFINITY);
    });
  }
});

interface Asking {
  readonly ask: <Row>(sql: string) => Promise<readonly Row[]>;
  readonly runs: string;
  readonly bookings: string;
}

function placeOf(definition: StoreDefinition, { ask, runs, bookings }: Asking): Place {
  return {
    definition,
    runs: () => ask(`SELECT scope, id FROM ${runs}`),
    rows: async () => {
      const rows = await ask<{ scope: string; call: string; what: string }>(
        `SELECT scope, call, what FROM ${bookings}`,
      );
      return rows.map(({ scope, call, what }) => `${scope} ${call} ${what}`).sort();
    },
  };
}
