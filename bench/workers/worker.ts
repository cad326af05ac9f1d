/** A worker process of the bench: node worker.ts <setup>. It works until it is told to close. */
import { createWorker } from "holdfast";
import { pollMs, setupOf, storeAt, type WorkerNews, type WorkerOrder } from "./setup.ts";
import { createAgent, workloads } from "./workload.ts";

const { place, workload, steps } = setupOf(process.argv[2]);
const { concurrency } = workloads[workload];
const agents = [createAgent(workload, steps)];
const worker = await createWorker({ agents, store: storeAt(place), concurrency, pollMs });

process.on("message", (order: WorkerOrder) => {
  if (order === "close") worker.close().then(leave, leave);
  else tell({ kind: "cpu", ms: cpuMs() });
});
process.once("disconnect", () => process.exit());
tell({ kind: "ready" });

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function leave(): void {
  process.disconnect?.();
}

function tell(news: WorkerNews): void {
  process.send?.(news);
}
