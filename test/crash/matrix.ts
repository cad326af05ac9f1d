/** The crash matrix: every scenario on one store, held against its table row and its floor. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { type CrashOptions, type CrashReport, crashEverywhere } from "../../src/testing/crash-kit.ts";
import type { CrashScenario } from "../../src/testing/crash-scenario.ts";
import { isHookError, ruleProblems } from "./hook-errors.ts";
import { scenarios } from "./scenarios/all.ts";
import { table } from "./scenarios/expected.ts";

/** Cut points per scenario may not fall below these: a call that no longer passes a port is no longer cut. */
const floors = JSON.parse(readFileSync(resolve(import.meta.dirname, "floors.json"), "utf8")) as Record<string, number>;

type Options = () => CrashOptions | Promise<CrashOptions>;

export function matrixOn(store: string, options: Options, played: readonly CrashScenario[] = scenarios): void {
  for (const scenario of played) {
    test(`${scenario.name}: cut anywhere on ${store}, it comes to the same`, async () => {
      const report = await crashEverywhere(scenario, await options());
      console.log(`${store}: ${scenario.name}: ${report.cuts} of ${report.possible} cuts`);
      expect(report.failures).toEqual([]);
      expect(report.uncut).toEqual(table[scenario.name]?.uncut);
      expect(unjudgedIn(report), "errors of user code without a row in the table").toEqual({});
      expect(report.possible).toBeGreaterThanOrEqual(floors[scenario.name] ?? Number.POSITIVE_INFINITY);
    });
  }
}

/** A hook that throws needs no row: what it comes to is in the table of phases. */
function unjudgedIn({ unjudged, uncut }: CrashReport): Record<string, unknown> {
  const judged = Object.entries(unjudged).map(([label, came]) => {
    const problems = isHookError(label) ? ruleProblems(label, came, uncut) : ["there is no row for it"];
    return [label, { problems, came }] as const;
  });
  return Object.fromEntries(judged.filter(([, { problems }]) => problems.length > 0));
}
