/** A worker with the treasury's agents: node worker.ts <target as JSON>. */
import { createWorker } from "../../../src/create-worker.ts";
import { postgres } from "../../../src/postgres.ts";
import { sqlite } from "../../../src/sqlite.ts";
import { treasury } from "./treasury.ts";

export interface WorkerTarget {
  readonly store: { readonly path: string } | { readonly url: string; readonly schema: string };
  readonly file: string;
}

const { store, file } = JSON.parse(process.argv[2] ?? "{}") as WorkerTarget;

await createWorker({
  agents: [...treasury(file)],
  store: "path" in store ? sqlite(store.path) : postgres(store),
  logger: { warn: () => undefined, note: () => undefined },
  leaseMs: 500,
  pollMs: 20,
});
