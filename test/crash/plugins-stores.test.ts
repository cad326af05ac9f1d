/**
 * The scenarios with plugins elsewhere, and with the recovery cut as well: some cuts of each in every run of the tests, all
 * of them with HOLDFAST_CRASH_ALL=1, others with HOLDFAST_CRASH_SEED.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { sqlite } from "../../src/sqlite.ts";
import { type CrashOptions, crashEverywhere } from "../../src/testing/crash-kit.ts";
import { pooledStore } from "../postgres/pooled-store.ts";
import { matrixOn } from "./matrix.ts";
import { pluggedScenarios } from "./scenarios/all.ts";
import { table } from "./scenarios/expected.ts";

const all = process.env.HOLDFAST_CRASH_ALL === "1";
const seed = process.env.HOLDFAST_CRASH_SEED ?? "1";

function some(cuts: number): Pick<CrashOptions, "sample"> {
  return all ? {} : { sample: { cuts, seed } };
}

describe("sqlite", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-crash-plugins-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  let files = 0;
  matrixOn(
    "sqlite",
    () => {
      files += 1;
      return { store: sqlite(join(folder, `${files}.db`), { durability: "normal" }), ...some(40) };
    },
    pluggedScenarios,
  );
});

describe("postgres", () => {
  const store = pooledStore();
  afterAll(async () => (await store).close());
  matrixOn("postgres", async () => ({ store: await store, ...some(3) }), pluggedScenarios);
});

describe("the recovery is cut too", () => {
  test.each(pluggedScenarios)("$name: cut anywhere and cut again, it comes to the same", async (scenario) => {
    const report = await crashEverywhere(scenario, { twice: true, ways: ["before", "after"], ...some(40) });
    expect(report.failures).toEqual([]);
    expect(report.uncut).toEqual(table[scenario.name]?.uncut);
  });
});
