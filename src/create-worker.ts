/** createWorker: a process that only works. Runs are started, watched and answered through a runtime elsewhere. */
import { composeWorker, openPorts, redactingSetup } from "./compose.ts";
import { withLent } from "./domain/lend-agent.ts";
import { checkWorkerOptions, type WorkerOptions } from "./options.ts";
import { bindAgent } from "./runtime/bind-agent.ts";
import { type RuntimeMetrics, readMetrics } from "./runtime/metrics.ts";

export interface Worker extends AsyncDisposable {
  /** As of a runtime. */
  metrics(): Promise<RuntimeMetrics>;
  /** Claims nothing more, gives every run back as soon as nothing of it is in flight, and closes the store. */
  close(): Promise<void>;
}

export async function createWorker(options: WorkerOptions): Promise<Worker> {
  const { agents, ports } = await redactingSetup(options ?? {}, async () => {
    const checked = checkWorkerOptions(options);
    return { agents: checked, ports: await openPorts(options) };
  });
  const worker = composeWorker(ports, withLent(agents).map(bindAgent), options);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= worker.close();
    return closed;
  };
  const metrics = (): Promise<RuntimeMetrics> => readMetrics({ store: ports.store, ...worker });
  return { metrics, close, [Symbol.asyncDispose]: close };
}
