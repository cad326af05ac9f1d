/** The judge as a process: node checker.ts <folder> <kills> <pauses>. Knows only the logs and the store. */
import { collect } from "./evidence.ts";
import { judge } from "./judge.ts";

const [folder = ".", kills = "0", pauses = "0"] = process.argv.slice(2);
const shownProblems = 20;
const found = judge(await collect(folder));
const problems = Object.entries(found).flatMap(([name, list]) =>
  Array.isArray(list) ? list.map((problem) => `${name}: ${problem}`) : [],
);
for (const problem of problems.slice(0, shownProblems)) console.log(problem);
if (problems.length > shownProblems) console.log(`and ${problems.length - shownProblems} more`);

// A frozen worker that never tried to write shows nothing.
const isIdle = Number(pauses) > 0 && found.staleAttempts === 0;
if (isIdle) console.log(`staleAttempts: no worker wrote after it was frozen, so nothing was fenced`);
const counts = Object.entries(found).map(([name, value]) => [name, Array.isArray(value) ? value.length : value]);
console.log(JSON.stringify({ kills: Number(kills), pauses: Number(pauses), ...Object.fromEntries(counts) }));
process.exitCode = problems.length > 0 || isIdle ? 1 : 0;
