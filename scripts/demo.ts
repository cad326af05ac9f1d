/**
 * The demo: a refund goes through while its workers are killed. No key, no network, half a minute at most.
 *
 *   npm run demo                  ends with "effects: 1, lost: 0, duplicated: 0"
 *   npm run demo -- --sabotage    the tool drops its key: a refund is doubled, the checker says which, exit code 1
 */
import { parseArgs } from "node:util";
import { playDemo } from "./demo/show.ts";

const { values } = parseArgs({ options: { sabotage: { type: "boolean", default: false } } });
try {
  process.exitCode = await playDemo(values.sabotage);
} catch (cause) {
  console.error(String(cause));
  process.exit(1);
}
