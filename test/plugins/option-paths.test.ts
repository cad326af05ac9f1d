/** L9, if it parses it works: every option path has a scenario that comes out otherwise when the option is changed. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { agentRows } from "./options/agent-rows.ts";
import { contextRows } from "./options/context-rows.ts";
import { houseRows } from "./options/house-rows.ts";
import { limitRows } from "./options/limit-rows.ts";
import { everyPath } from "./options/paths.ts";
import { pluginRows } from "./options/plugin-rows.ts";
import { aroundRows } from "./options/policy-rows.ts";
import { stateRows } from "./options/state-rows.ts";
import { type Row, type Rows, tell, tellDeclared } from "./options/told.ts";
import { toolRows } from "./options/tool-rows.ts";
import { tracingRows } from "./options/tracing-rows.ts";

const rows: Rows = {
  ...agentRows,
  ...toolRows,
  ...aroundRows,
  ...stateRows,
  ...pluginRows,
  ...contextRows,
  ...limitRows,
  ...houseRows,
  ...tracingRows,
};

test("every option path that a definition knows has a row, and no row is about another", async () => {
  expect(Object.keys(rows).sort()).toEqual([...(await everyPath())].sort());
});

const root = resolve(import.meta.dirname, "../..");

test.each(Object.entries(rows))("%s", async (path, row: Row) => {
  if ("elsewhere" in row) {
    const file = resolve(root, row.elsewhere);
    expect(existsSync(file) && readFileSync(file, "utf8")).toContain(path.split(".").at(-1));
    return;
  }
  const told = row.isDeclaredOnly ? tellDeclared : tell;
  const first = await told(row.base());
  expect(await told(row.base()), "the same twice").toEqual(first);
  expect(await told(row.changed())).not.toEqual(first);
});
