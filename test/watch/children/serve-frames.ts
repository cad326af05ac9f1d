/** A server as a user would write one: it works, and it writes every frame of a watch down a pipe. */
import { createRuntime } from "../../../src/index.ts";
import { sqlite } from "../../../src/sqlite.ts";
import { slowTeller } from "./slow-teller.ts";

const [path = "", run = "", after = ""] = process.argv.slice(2);
const logger = { warn: () => undefined, note: () => undefined };
const store = sqlite(path, { durability: "normal" });
const limits = { crashes: 100 };
const runtime = await createRuntime({ agents: [slowTeller], store, leaseMs: 300, pollMs: 50, logger, limits });
for await (const frame of runtime.runs.get(run).watch(after === "" ? {} : { after })) {
  process.stdout.write(`${JSON.stringify(frame)}\n`);
}
await runtime.close();
