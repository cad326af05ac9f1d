/**
 * SIGTERM to a worker process with 64 runs in hand and as many effects in flight.
 *
 * G1 No effect is interrupted: what had begun is done, and its settlement is written before the process ends, with code 0.
 * G2 Another worker goes on at once: the leases would last for ten minutes, and nobody waits for one.
 * G3 What does not settle in the grace is left as after a crash: nobody says how it ended, until somebody can.
 * G4 A second signal is not waited for.
 */
import { expect, type TestContext, test } from "vitest";
import type { Entry } from "../../src/domain/entry.ts";
import type { Run, Runtime } from "../../src/runtime/runtime.ts";
import { createClerk, type PlannedCall, planOf, type WorldLine } from "./clerk.ts";
import { freshStage, journalOf, openDesk, type Stage, startWorker, until, worldOf } from "./crew.ts";
import type { WorkerSettings } from "./orders.ts";

const tenMinutes = 600_000;
const runs = 64;

interface Load {
  readonly stage: Stage;
  readonly desk: Runtime;
  readonly started: readonly Run[];
}

/** So many runs, of each of which the first call is in flight. */
async function load(context: TestContext, calls: (n: number) => readonly PlannedCall[]): Promise<Load> {
  const stage = await freshStage("sqlite", context);
  const desk = await openDesk(stage);
  const clerk = createClerk(stage);
  const plans = Array.from({ length: runs }, (_, n) => planOf(...calls(n).map((call) => [call])));
  const started = await Promise.all(plans.map((plan) => desk.start(clerk, plan)));
  return { stage, desk, started };
}

function begun(stage: Stage): readonly WorldLine[] {
  return worldOf(stage).filter(({ kind }) => kind === "begun");
}

/** Attempts that were intended and are neither settled nor unknown. */
function openAttempts(entries: readonly Entry[]): readonly string[] {
  const settled = new Set(
    entries.flatMap((entry) => (entry.type === "effect-settled" ? [`${entry.effect}#${entry.attempt}`] : [])),
  );
  const intended = entries.flatMap((entry) =>
    entry.type === "effect-intended" ? [`${entry.effect}#${entry.attempt}`] : [],
  );
  return intended.filter((attempt) => !settled.has(attempt));
}

test.concurrent("G1, G2 64 runs are handed over with their effects settled, and the next worker finishes them", {
  timeout: 120_000,
}, async (context) => {
  // One call in flight when the signal comes, one still to be made.
  const calls = (n: number): readonly PlannedCall[] => [
    { tool: n % 2 === 0 ? "act" : "book", ms: 2_000 },
    { tool: "pay" },
  ];
  const { stage, started } = await load(context, calls);
  const first = startWorker(stage, { leaseMs: tenMinutes, closeGraceMs: 60_000 });
  await until(() => begun(stage).length === runs);
  first.signal("SIGTERM");
  expect(await first.exited).toBe(0);
  const seen = worldOf(stage);
  expect(seen.filter(({ kind }) => kind === "done")).toHaveLength(seen.length / 2);
  const left = await Promise.all(started.map(({ id }) => journalOf(stage, id)));
  expect(left.flatMap(openAttempts)).toEqual([]);
  expect(left.filter((entries) => entries.some(({ type }) => type === "run-ended")).length).toBeLessThan(runs);

  startWorker(stage, { leaseMs: tenMinutes });
  const results = await Promise.all(started.map((run) => run.result()));
  expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => "completed"));
  const keys = begun(stage).map(({ key }) => key);
  expect(keys).toHaveLength(runs * 2);
  expect(new Set(keys).size).toBe(runs * 2);
});

test.concurrent("G3 an effect that outlasts the grace is nobody's guess: unknown, or asked for", {
  timeout: 120_000,
}, async (context) => {
  const calls = (n: number): readonly PlannedCall[] => [{ tool: n % 2 === 0 ? "pay" : "book", ms: 60_000 }];
  const { stage, started } = await load(context, calls);
  const settings: WorkerSettings = { leaseMs: 3_000, timeoutMs: 3_000 };
  const first = startWorker(stage, { ...settings, timeoutMs: 60_000, closeGraceMs: 200 });
  await until(() => begun(stage).length === runs);
  first.signal("SIGTERM");
  expect(await first.exited).toBe(0);
  const left = await Promise.all(started.map(({ id }) => journalOf(stage, id)));
  expect(left.flatMap(openAttempts)).toHaveLength(runs);

  startWorker(stage, settings);
  const paid = await Promise.all(started.filter((_, n) => n % 2 === 0).map((run) => run.idle()));
  const kinds = paid.map((idle) => (idle.status === "waiting" ? idle.tickets[0]?.kind : idle.status));
  expect(kinds).toEqual(paid.map(() => "unknown-outcome"));
});

test.concurrent("G4 a second SIGTERM ends the process at once", { timeout: 60_000 }, async (context) => {
  const { stage } = await load(context, () => [{ tool: "pay", ms: 50_000 }]);
  const worker = startWorker(stage, { leaseMs: tenMinutes, closeGraceMs: tenMinutes });
  await until(() => begun(stage).length === runs);
  worker.signal("SIGTERM");
  await worker.next(({ message }) => message.includes("hands its runs over"));
  worker.signal("SIGTERM");
  expect(await worker.exited).toBe(null); // by the signal, not by itself
  expect(worldOf(stage).filter(({ kind }) => kind === "done")).toEqual([]);
});
