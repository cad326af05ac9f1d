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

/** Most who send SIGTERM wait half a minute before they kill. */
const graceMs = 25_000;

const signals = ["SIGTERM", "SIGINT"] as const;

export async function runWorker(options: WorkerOptions): Promise<void> {
  const { told, ignore } = nextSignal();
  const { logger = talkative } = options;
  const worker = await createWorker({ closeGraceMs: graceMs, ...options, logger }).catch((cause: unknown) => {
    ignore();
    throw cause;
  });
  const agents = options.agents?.map(({ name }) => name) ?? options.resolver?.names?.();
  logger.note("The worker is ready", { pid: process.pid, agents });
  const signal = await told;
  logger.note("The worker hands its runs over", { pid: process.pid, signal });
  await worker.close();
}

/** R2: the listeners are gone after the first, or without a worker, so that a signal has its usual meaning. */
function nextSignal(): { readonly told: Promise<string>; readonly ignore: () => void } {
  const { promise: told, resolve } = Promise.withResolvers<string>();
  const ignore = (): void => {
    for (const each of signals) process.off(each, hear);
  };
  function hear(signal: string): void {
    ignore();
    resolve(signal);
  }
  for (const each of signals) process.on(each, hear);
  return { told, ignore };
}
