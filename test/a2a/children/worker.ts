/** A process that runs an agent elsewhere and is killed while it does. Arguments: the store's file, the remote's address, the input. */
import { createRuntime } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { farAgent } from "../turn.ts";

const [, , file = "", url = "", input = ""] = process.argv;
const far = farAgent(url);
const runtime = await createRuntime({ agents: [far], store: sqlite(file), leaseMs: 400, pollMs: 50 });
const run = await runtime.start(far, input, { key: "k-1" });
process.stdout.write(`${run.id}\n`);
for await (const event of run.watch({ until: "idle" })) process.stdout.write(`${event.type}\n`);
process.stdout.write("idle\n");
setInterval(() => undefined, 1_000);
