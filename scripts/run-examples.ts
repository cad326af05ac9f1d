// Runs every example that says how it ends: `// expect: <last line>` among its first lines.
// Each runs from source in an empty folder of its own, so that nothing an earlier run left behind helps it.
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const headLines = 5;
const timeoutMs = 60_000;

function expectedLastLine(path: string): string | undefined {
  const head = readFileSync(join(root, path), "utf8").split(/\r?\n/, headLines);
  return head.map((line) => /^\/\/ expect: (.+)$/.exec(line)?.[1]?.trim()).find((found) => found !== undefined);
}

/** Runs one example; returns what is wrong with it, or nothing. */
function run(path: string, expected: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-example-"));
  try {
    const child = spawnSync(process.execPath, ["--conditions=holdfast-source", join(root, path)], {
      cwd: folder,
      encoding: "utf8",
      timeout: timeoutMs,
    });
    const last = child.stdout.trimEnd().split(/\r?\n/).at(-1) ?? "";
    if (child.error) return `${child.error.message}\n${child.stderr}`;
    if (child.status !== 0) return `exit code ${child.status ?? child.signal}\n${child.stderr}`;
    return last === expected
      ? undefined
      : `expected last line: ${expected}\n  actual last line: ${last}\n${child.stderr}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

let passed = 0;
let failed = 0;
for (const path of globSync("examples/*.ts", { cwd: root }).sort()) {
  const expected = expectedLastLine(path);
  if (expected === undefined) {
    console.log(`  –  ${path} (no "// expect:" line, not run)`);
    continue;
  }
  const problem = run(path, expected);
  if (problem === undefined) {
    passed += 1;
    console.log(`  ✓  ${path}`);
  } else {
    failed += 1;
    console.error(`  ✗  ${path}: ${problem.trimEnd()}`);
  }
}
console.log(`examples: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
