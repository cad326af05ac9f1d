/** A process that lets a server work for it, and is killed while it does. Arguments: the store's file, the server's options. */

import { createRuntime } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { secretary } from "../secretary.ts";

const [, , file = "", options = "{}"] = process.argv;
const { agent, server } = await secretary(JSON.parse(options));
const runtime = await createRuntime({ agents: [agent], store: sqlite(file), leaseMs: 400 });
await (await runtime.start(agent, "Work", { key: "work-1" })).idle();
await server.close();
