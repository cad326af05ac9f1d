/** A worker: it executes the runs of the support agent until it is killed. */
import { createWorker } from "holdfast";
import { storeIn } from "./files.ts";
import type { WorkerNews } from "./news.ts";
import { support } from "./support.ts";

const store = storeIn(process.argv[2] ?? ".");
// A short lease, so that nobody waits half a minute for the dead worker's to run out.
await createWorker({ agents: [support], store, leaseMs: 1_500, pollMs: 100 });
process.send?.({ at: "ready" } satisfies WorkerNews);
process.once("disconnect", () => process.exit());
