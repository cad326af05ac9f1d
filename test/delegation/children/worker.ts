/** A worker with the family: node worker.ts <target as JSON>. */
import { createWorker } from "../../../src/create-worker.ts";
import { sqlite } from "../../../src/sqlite.ts";
import { family } from "./family.ts";

export interface WorkerTarget {
  readonly path: string;
  readonly folder: string;
}

const { path, folder } = JSON.parse(process.argv[2] ?? "{}") as WorkerTarget;

await createWorker({
  agents: [family(folder)],
  store: sqlite(path),
  logger: { warn: () => undefined, note: () => undefined },
  leaseMs: 400,
  pollMs: 20,
});
