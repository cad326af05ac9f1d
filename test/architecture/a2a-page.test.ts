import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaults, optionNames } from "../../src/backends/a2a/options.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/reference/a2a.md"), "utf8");

test("the page of remote agents has every option, and the defaults that are numbers", () => {
  const section = page.split(/^## /m).find((text) => text.startsWith("Options")) ?? "";
  const rows = [...section.matchAll(/^\| `(\w+)` \| (.*?) \|/gm)].map(([, name, given]) => [
    name,
    given?.replaceAll(",", ""),
  ]);
  expect(rows.map(([name]) => name)).toEqual(optionNames);
  expect(Object.fromEntries(rows)).toMatchObject({
    pollInterval: String(defaults.pollInterval),
    maxBytes: String(defaults.maxBytes),
  });
});
