/** A worker whose model tells slowly enough to be killed in the middle of a word. */
import { createRuntime } from "../../../src/create-runtime.ts";
import { postgres } from "../../../src/postgres.ts";
import { slowTeller } from "../../watch/children/slow-teller.ts";

const [url = "", schema = ""] = process.argv.slice(2);
const logger = { warn: () => undefined, note: () => undefined };
await createRuntime({ agents: [slowTeller], store: postgres({ url, schema }), leaseMs: 500, pollMs: 50, logger });
process.stdout.write("ready\n");
