/** Every item of the checklist about backends is held by a test that carries its id. */
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { backendItems } from "./backend-items.ts";

const root = resolve(import.meta.dirname, "../..");

/** Ids in strings of a test file: its names, and the rows of the tables that they come from. Comments do not count. */
function carriedIn(source: string): readonly string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
  const strings = code.matchAll(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g);
  return [...strings].flatMap(([text]) => text.match(/\b(?:B|C|LB)-\d{3}\b/g) ?? []);
}

function carried(): ReadonlySet<string> {
  const folder = resolve(root, "test");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".test.ts"));
  const others = files.filter((file) => !file.endsWith("backend-carriers.test.ts"));
  return new Set(others.flatMap((file) => carriedIn(readFileSync(resolve(folder, file), "utf8"))));
}

/** Items about delegates, which join with delegation. Nothing else is excused, and this list only gets shorter. */
const notYet: readonly string[] = ["LB-011", "LB-016"];

test("no item of the checklist is without a test that carries it", () => {
  const ids = carried();
  const items = Object.keys(backendItems);
  expect(items).toHaveLength(195);
  expect(items.filter((id) => !ids.has(id) && !notYet.includes(id))).toEqual([]);
});

test("the search finds ids in names and rows, and none in comments", () => {
  const source = [
    'test("B-001 a", f);',
    "test.each(rows)(`C-002 b`, f);",
    'const rows = [["LB-003 c", 1]];',
    "// B-004",
    "/* C-005 */",
  ].join("\n");
  expect(carriedIn(source)).toEqual(["B-001", "C-002", "LB-003"]);
});
