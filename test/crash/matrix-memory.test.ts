import { expect, test } from "vitest";
import { matrixOn } from "./matrix.ts";
import { pluggedScenarios, scenarios } from "./scenarios/all.ts";
import { besides } from "./scenarios/background.ts";
import { delegations } from "./scenarios/delegation.ts";
import { table } from "./scenarios/expected.ts";

test("every scenario has one name and one row in the table, and no row is left over", () => {
  const names = [...scenarios, ...pluggedScenarios, ...delegations, ...besides].map(({ name }) => name);
  expect(names.sort()).toEqual(Object.keys(table).sort());
});

matrixOn("memory", () => ({}));
