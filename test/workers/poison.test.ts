/**
 * One run whose tool kills its process, among 200 healthy ones, and a supervisor that starts a new worker for each that dies.
 *
 * K1 It is set aside after at most five deaths, and no process dies after that.
 * K2 The healthy ones finish, whatever died around them; none of them is set aside.
 * K3 Whoever releases it gets a run that goes on (and here: kills again, and is set aside again); whoever cancels it, its end.
 *
 * On SQLite; with HOLDFAST_POISON_STORE=postgres on Postgres.
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Run, Runtime, Ticket } from "../../src/runtime/runtime.ts";
import { createClerk, planOf } from "./clerk.ts";
import { freshStage, openDesk, type Stage, startWorker, worldOf } from "./crew.ts";

const healthyRuns = 200;
const leaseMs = 1_000;

interface Supervisor {
  deaths(): number;
  stop(): void;
}

/** Keeps two workers alive. */
function supervise(stage: Stage): Supervisor {
  let deaths = 0;
  let isOver = false;
  const keep = async (): Promise<void> => {
    while (!isOver) {
      const worker = startWorker(stage, { leaseMs, ordeal: { kind: "die", at: "in-tool", tag: "poison" } });
      await worker.exited;
      if (!isOver) deaths += 1;
    }
  };
  void keep();
  void keep();
  const stop = (): void => {
    isOver = true;
  };
  return { deaths: () => deaths, stop };
}

type Quarantined = Extract<Ticket, { kind: "quarantined" }>;

async function setAside(desk: Runtime, run: Run): Promise<Quarantined> {
  for (;;) {
    const tickets = await desk.tickets.list({ kind: "quarantined", status: "open" });
    expect(tickets.filter((ticket) => ticket.run !== run.id)).toEqual([]); // K2
    const [ticket] = tickets;
    if (ticket?.kind === "quarantined") return ticket;
    await delay(50);
  }
}

test("K1–K3 a run that kills its process is set aside, and 200 others finish", {
  timeout: 240_000,
}, async (context) => {
  const stage = await freshStage(process.env.HOLDFAST_POISON_STORE === "postgres" ? "postgres" : "sqlite", context);
  const desk = await openDesk(stage);
  const clerk = createClerk(stage);
  const healthy: Run[] = [];
  const beginSome = async (count: number): Promise<void> => {
    const plan = planOf([{ tool: "act", ms: 20 }], [{ tool: "act", ms: 20 }]);
    healthy.push(...(await Promise.all(Array.from({ length: count }, () => desk.start(clerk, plan)))));
  };
  await beginSome(healthyRuns / 2);
  const poison = await desk.start(clerk, planOf([{ tool: "act", tag: "poison" }]));
  await beginSome(healthyRuns / 2);
  const supervisor = supervise(stage);
  stage.after(async () => supervisor.stop());

  const first = await setAside(desk, poison);
  const deaths = supervisor.deaths();
  expect(deaths).toBeGreaterThan(0);
  expect(deaths).toBeLessThanOrEqual(5); // K1
  const results = await Promise.all(healthy.map((run) => run.result()));
  expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => "completed")); // K2
  expect(supervisor.deaths()).toBe(deaths); // K1

  await first.release(); // K3
  const second = await setAside(desk, poison);
  expect(second.id).not.toBe(first.id);
  expect(supervisor.deaths()).toBeLessThanOrEqual(deaths + 5);
  await second.cancelRun();
  expect(await poison.result()).toMatchObject({ outcome: "cancelled" });
  const begun = worldOf(stage).filter(({ kind, tag }) => kind === "begun" && tag === "poison");
  expect(begun).toHaveLength(supervisor.deaths()); // each death was a try, and each try a death
});
