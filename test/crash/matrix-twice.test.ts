/** The recovery is cut as well: a run comes to the same however often its process dies. */
import { expect, test } from "vitest";
import { crashEverywhere } from "../../src/testing/crash-kit.ts";
import { scenarios } from "./scenarios/all.ts";
import { table } from "./scenarios/expected.ts";

for (const scenario of scenarios) {
  test(`${scenario.name}: cut anywhere and cut again while it recovers, it comes to the same`, async () => {
    const report = await crashEverywhere(scenario, { twice: true, ways: ["before", "after"] });
    expect(report.failures).toEqual([]);
    expect(report.uncut).toEqual(table[scenario.name]?.uncut);
  });
}
