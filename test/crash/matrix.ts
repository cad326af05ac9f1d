/** The crash matrix: every scenario on one store, held against its table row and its floor. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { type CrashOptions, crashEverywhere } from "../../src/testing/crash-kit.ts";
import { scenarios } from "./scenarios/all.ts";
import { table } from "./scenarios/expected.ts";

/** Cut points per scenario may not fall below these: a call that no longer passes a port is no longer cut. */
const floors = JSON.parse(readFileSync(resolve(import.meta.dirname, "floors.json"), "utf8")) as Record<string, number>;

export function matrixOn(store: string, options: () => CrashOptions | Promise<CrashOptions>): void {
  for (const scenario of scenarios) {
    test(`${scenario.name}: cut anywhere on ${store}, it comes to the same`, async () => {
      const report = await crashEverywhere(scenario, await options());
      console.log(`${store}: ${scenario.name}: ${report.cuts} of ${report.possible} cuts`);
      expect(report.failures).toEqual([]);
      expect(report.uncut).toEqual(table[scenario.name]?.uncut);
      expect(report.unjudged, "errors of user code without a row in the table").toEqual({});
      expect(report.possible).toBeGreaterThanOrEqual(floors[scenario.name] ?? Number.POSITIVE_INFINITY);
    });
  }
}
