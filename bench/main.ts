/**
 * Benchmarks, by name: npm run bench -- <name> [options]. Each prints a table, and its figures as JSON on the last line.
 *
 *   npm run bench -- workers                                   1, 2 and 4 worker processes on one SQLite file
 *   npm run bench -- workers --store postgres --rounds 9       HOLDFAST_TEST_POSTGRES_URL, or a server of its own
 *   npm run bench -- workers --write --note "a quiet laptop"   also puts the figures into bench/RESULTS.md
 *   npm run bench -- context                                   what a step costs on a thread of thousands, in memory
 *   npm run bench -- delegation                                a run with a delegation against the delegate's own steps
 *   npm run bench -- plugins                                   what twenty plugins cost per step, in memory
 */

import { benchContext } from "./context/bench.ts";
import { benchDelegation } from "./delegation/bench.ts";
import { benchPlugins } from "./plugins/bench.ts";
import { Refusal } from "./refusal.ts";
import { benchWorkers } from "./workers/bench.ts";

const benches: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  context: benchContext,
  delegation: benchDelegation,
  plugins: benchPlugins,
  workers: benchWorkers,
};

const [name, ...args] = process.argv.slice(2);
try {
  await benchNamed(name)(args);
} catch (cause) {
  if (!(cause instanceof Refusal)) throw cause;
  console.error(cause.message);
  process.exitCode = 2;
}

function benchNamed(wanted: string | undefined): (args: readonly string[]) => Promise<void> {
  const known = Object.keys(benches).join(", ");
  if (wanted === undefined || wanted.startsWith("-")) {
    throw new Refusal(`Name a benchmark first: npm run bench -- <name> [options]; there is ${known}`);
  }
  const bench = Object.hasOwn(benches, wanted) ? benches[wanted] : undefined;
  if (!bench) throw new Refusal(`There is no benchmark ${JSON.stringify(wanted)}; there is ${known}`);
  return bench;
}
