/** Plugins that write state in every phase, cut at every call of every port: the same outcome, and the same state. */
import { expect, test } from "vitest";
import { phases } from "../../src/domain/phase.ts";
import { isAllowed } from "../../src/engine/phases.ts";
import { matrixOn } from "./matrix.ts";
import { pluggedScenarios } from "./scenarios/all.ts";
import { table } from "./scenarios/expected.ts";

matrixOn("memory", () => ({}), pluggedScenarios);

test("the scenarios write state in every phase that lets plugins do so", () => {
  const states = pluggedScenarios.flatMap(
    ({ name }) => table[name]?.uncut.runs.flatMap(({ state = [] }) => state) ?? [],
  );
  const trail = states.filter((line) => line.startsWith("trail = ")).join("\n");
  const writable = phases.filter((phase) => isAllowed("set-state", phase));
  expect(writable.length).toBeGreaterThan(10);
  expect(writable.filter((phase) => !trail.includes(` ${phase}`))).toEqual([]);
});
