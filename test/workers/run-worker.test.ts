/** What runWorker leaves in its process. */
import { expect, test } from "vitest";
import { runWorker } from "../../src/run-worker.ts";
import { memory } from "../../src/stores/memory/memory.ts";

test("R2 where no worker could be made, a signal has its usual meaning", async () => {
  const listeners = (): readonly number[] => ["SIGTERM", "SIGINT"].map((signal) => process.listenerCount(signal));
  const before = listeners();
  await expect(runWorker({ agents: [], store: memory() })).rejects.toThrow("must name at least one");
  expect(listeners()).toEqual(before);
});
