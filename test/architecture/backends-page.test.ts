import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const script = resolve(import.meta.dirname, "../../scripts/docs-backends.ts");

test("the table of capabilities is what backends publish", () => {
  const { status, stderr } = spawnSync(process.execPath, [script, "--check"], { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});
