/**
 * The clock of the machine jumps by an hour, forward and back, under two workers on one SQLite file.
 *
 * J1 Nobody takes a run from a worker that is alive: what was in flight is settled by whoever began it, once.
 * J2 Runs that are started after a jump, and timers, go on as before.
 */
import { expect, test } from "vitest";
import { createWorker } from "../../src/create-worker.ts";
import { nodeClock } from "../../src/platform/node-clock.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Run } from "../../src/runtime/runtime.ts";
import { createClerk, planOf } from "./clerk.ts";
import { freshStage, journalOf, openDesk, storeOf, until, worldOf } from "./crew.ts";

const hour = 3_600_000;
const logger = { warn: () => undefined, note: () => undefined };

for (const [name, jump] of [
  ["forward", hour],
  ["back", -hour],
] as const) {
  test(`J1, J2 an hour ${name}: every effect begins once, and every run ends`, { timeout: 60_000 }, async (context) => {
    let offset = 0;
    const clock: Clock = { ...nodeClock, now: () => nodeClock.now() + offset };
    const stage = await freshStage("sqlite", context);
    const clerk = createClerk(stage);
    const settings = {
      store: storeOf(stage),
      agents: [clerk],
      clock,
      logger,
      leaseMs: 2_000,
      pollMs: 50,
      concurrency: 8,
    };
    for (const worker of await Promise.all([createWorker(settings), createWorker(settings)])) {
      stage.after(() => worker.close());
    }
    const desk = await openDesk(stage, clock);
    const plan = planOf([{ tool: "book", ms: 1_000 }], [{ tool: "pay" }]);
    const runs: Run[] = [];
    const begin = async (): Promise<void> => void runs.push(await desk.start(clerk, plan));
    for (let n = 0; n < 12; n += 1) await begin();
    await until(() => worldOf(stage).length >= 12);
    offset = jump;
    const before = runs.length;
    for (let n = 0; n < 4; n += 1) await begin();
    const results = await Promise.all(runs.map((run) => run.result()));
    expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => "completed"));
    const begun = worldOf(stage).filter(({ kind }) => kind === "begun");
    expect(begun).toHaveLength(runs.length * 2);
    expect(new Set(begun.map(({ key }) => key)).size).toBe(runs.length * 2);
    const journals = await Promise.all(runs.slice(0, before).map(({ id }) => journalOf(stage, id)));
    const epochs = journals.map((entries) => Math.max(...entries.map(({ epoch }) => epoch ?? 0)));
    expect(epochs).toEqual(epochs.map(() => 1));
  });
}
