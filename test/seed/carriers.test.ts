/** Every item of the checklist about the runtime is held by a test that carries its id, or the id of the difference. */
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { runtimeItems } from "./runtime-items.ts";

const root = resolve(import.meta.dirname, "../..");

/** Ids in the names of tests and of groups of them, not in comments. */
function carriedIn(source: string): readonly string[] {
  const names = source.matchAll(/(?:\b(?:test|describe)|\))\(\s*(?:"[^"\n]*"|`[^`\n]*`)/g);
  return [...names].flatMap(([name]) => name.match(/\b[RD]-\d+\b/g) ?? []);
}

function carried(): ReadonlySet<string> {
  const folders = ["test", "src"].map((folder) => resolve(root, folder));
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.ts"))
      .map((file) => resolve(folder, file)),
  );
  return new Set(files.flatMap((file) => carriedIn(readFileSync(file, "utf8"))));
}

test("no item of the checklist is without a test that carries it", () => {
  const ids = carried();
  const items = Object.entries(runtimeItems);
  expect(items).toHaveLength(71);
  const lost = items.filter(([id, differences]) => ![id, ...differences].some((each) => ids.has(each)));
  expect(lost.map(([id]) => id)).toEqual([]);
});

test("the search finds ids in names, also of tables and over lines, and none in comments", () => {
  const source = [
    'test("R-001 a", f);',
    "test.each([1])(`R-002 b`, f);",
    'test(\n  "c R-003, D-04", f);',
    'describe("R-004", f)',
  ].join("\n");
  expect(carriedIn(`${source}\n// R-005\n/* test: R-006 */`)).toEqual(["R-001", "R-002", "R-003", "D-04", "R-004"]);
});
