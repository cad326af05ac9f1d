/** A worker of the three levels; it is killed. Arguments: the store's file, the remote's address, and "start" where it starts the run. */
import { createRuntime } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { lead } from "../tree.ts";

const [, , file = "", url = "", what = ""] = process.argv;
const agent = lead(url);
const runtime = await createRuntime({ agents: [agent], store: sqlite(file), leaseMs: 400, pollMs: 50 });
if (what === "start") process.stdout.write(`${(await runtime.start(agent, "Go", { key: "k-1" })).id}\n`);
else process.stdout.write("ready\n");
setInterval(() => undefined, 1_000);
