import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Problems } from "../../src/domain/problems.ts";
import { readLimits } from "../../src/toolsets/mcp/limits.ts";
import { optionNames } from "../../src/toolsets/mcp/options.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/reference/mcp.md"), "utf8");

function rows(title: string): readonly string[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(title)) ?? "";
  return [...section.matchAll(/^\| `(\w+)` \| (.*?) \|/gm)].map(
    ([, name, given]) => `${name} ${given?.replaceAll(",", "")}`,
  );
}

test("the page of MCP servers has every option", () => {
  expect(rows("Options").map((row) => row.split(" ")[0])).toEqual(optionNames);
});

test("the page of MCP servers has every limit with its default", () => {
  const limits = readLimits(undefined, new Problems({}, []));
  expect(rows("Limits")).toEqual(Object.entries(limits).map(([name, value]) => `${name} ${value}`));
});
