/**
 * runWorker: a whole worker process in one line. It works until it is told to go, hands its runs over, and returns.
 *
 * R1 SIGTERM and SIGINT mean: begin nothing new, settle what is in flight, give the runs back. Another worker goes on at
 *    once, without waiting for a lease.
 * R2 A second signal is not waited for: the process ends as it would have without us, and leases run out.
 */
import { createWorker } from "./create-worker.ts";
import type { WorkerOptions } from "./options.ts";
import { consoleLogger } from "./platform/console-logger.ts";
import type { Logger } from "./ports/logger.ts";

/** A process of its own says in a line when it comes and goes. */
const talkative: Logger = { ...consoleLogger, note: consoleLogger.warn };

const signals = ["SIGTERM", "SIGINT"] as const;

export async function runWorker(options: WorkerOptions): Promise<void> {
  const told = nextSignal();
  const { logger = talkative } = options;
  const worker = await createWorker({ ...options, logger });
  const agents = options.agents.map(({ name }) => name);
  logger.note("The worker is ready", { pid: process.pid, agents });
  const signal = await told;
  logger.note("The worker hands its runs over", { pid: process.pid, signal });
  await worker.close();
}

/** R2: the listeners are gone after the first, so that a second signal has its usual meaning. */
function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    const hear = (signal: string): void => {
      for (const each of signals) process.off(each, hear);
      resolve(signal);
    };
    for (const each of signals) process.on(each, hear);
  });
}
