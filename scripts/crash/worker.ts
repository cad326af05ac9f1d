/** A worker of the campaign: node worker.ts <folder>. It works until it is killed. */
import { createWorker } from "holdfast";
import { createClerk } from "./clerk.ts";
import { logs } from "./evidence.ts";
import { createFailpoints, tellReady } from "./failpoints.ts";
import { leaseMs, placeOf, storeOf } from "./place.ts";
import { wrappedStore } from "./wrapped-store.ts";

const folder = process.argv[2] ?? ".";
const points = createFailpoints();
const store = wrappedStore(storeOf(folder), points, logs.worker(folder, process.pid));
const { toolsUrl, concurrency } = placeOf(folder);
const agents = [createClerk(toolsUrl, points)];
const logger = { warn: () => undefined, note: () => undefined };
await createWorker({ agents, store, leaseMs, concurrency, pollMs: 200, logger });
tellReady();
process.once("disconnect", () => process.exit());
