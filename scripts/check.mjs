// Runs every stage that guards the main branch, in order, and stops at the first that fails.
import { spawnSync } from "node:child_process";

const stages = [
  ["format", "format:check"],
  ["lint", "lint"],
  ["types", "types"],
  ["walls", "walls"],
  ["unused", "unused"],
  ["tests", "test"],
  ["docs", "docs:check"],
  ["examples", "examples"],
  ["package", "package"],
];

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const start = performance.now();

for (const [index, [name, script]] of stages.entries()) {
  console.log(`\n[${index + 1}/${stages.length}] ${name}`);
  const stageStart = performance.now();
  const { status } = spawnSync("npm", ["run", "--silent", script], {
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) {
    console.error(`\ncheck failed at stage "${name}": repeat it alone with "npm run ${script}"`);
    process.exit(1);
  }
  console.log(`${name}: ok (${seconds(stageStart)})`);
}
console.log(`\ncheck passed: ${stages.length} stages in ${seconds(start)}`);
