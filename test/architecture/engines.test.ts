import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const guard = resolve(root, "scripts/node-guard.mjs");

function runGuardAs(version: string): { readonly code: number | null; readonly lines: readonly string[] } {
  const pretend = `Object.defineProperty(process.versions, "node", { value: "${version}" });`;
  const preload = `data:text/javascript,${encodeURIComponent(pretend)}`;
  const child = spawnSync(process.execPath, ["--import", preload, guard], { encoding: "utf8" });
  return { code: child.status, lines: child.stderr.split("\n").filter((line) => line !== "") };
}

test.each(["18.20.8", "20.20.2", "22.17.1"])("Node %s is refused with one sentence", (version) => {
  const { code, lines } = runGuardAs(version);
  expect(code).toBe(1);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(`this is Node ${version}`);
});

test.each(["22.18.0", "24.0.0", "26.10.0"])("Node %s is accepted in silence", (version) => {
  expect(runGuardAs(version)).toEqual({ code: 0, lines: [] });
});

test("the guard and package.json name the same oldest Node", () => {
  const manifest = JSON.parse(readFileSync(resolve(root, "package.json"), "utf8")) as { engines: { node: string } };
  const oldest = manifest.engines.node.replace(">=", "");
  expect(runGuardAs("20.0.0").lines[0]).toContain(`needs Node ${oldest} or newer`);
});
