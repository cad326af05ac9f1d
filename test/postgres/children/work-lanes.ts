/** A worker: holds so many runs at once, until it is told to go. */
import { createRuntime } from "../../../src/create-runtime.ts";
import { postgres } from "../../../src/postgres.ts";
import { laneClerk, quiet } from "../lanes.ts";
import { schema, url } from "./opened.ts";

const [concurrency = "1", steps = "1"] = process.argv.slice(5);
const runtime = await createRuntime({
  agents: [laneClerk(Number(steps))],
  store: postgres({ url, schema, connections: 5 }),
  concurrency: Number(concurrency),
  logger: quiet,
});
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));
await runtime.close();
process.exit(0);
