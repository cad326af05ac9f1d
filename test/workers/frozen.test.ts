/**
 * A worker that is frozen (SIGSTOP) past its lease, or whose event loop is blocked for longer, and which wakes after another
 * has taken over and finished.
 *
 * Z1 It writes nothing: the journal that the other has left stays as it is, and every call of its own is answered `fenced`.
 * Z2 It renews nothing, and starts no effect: the world sees no call that begins after it woke.
 * Z3 What it left unknown cannot be decided before `startBy` plus timeout, when its attempt can no longer be running; then it can.
 * Z4 It is none the worse for it: the next run is worked on as ever, and it goes when it is told to.
 */
import { expect, type TestContext, test } from "vitest";
import type { Entry } from "../../src/domain/entry.ts";
import { isHoldfastError } from "../../src/domain/errors.ts";
import type { Run, Runtime, Ticket } from "../../src/runtime/runtime.ts";
import { createClerk, planOf, type ToolName } from "./clerk.ts";
import {
  freshStage,
  journalOf,
  openDesk,
  type Stage,
  type StoreKind,
  startWorker,
  until,
  type WorkerProcess,
  worldOf,
} from "./crew.ts";
import type { Ordeal } from "./orders.ts";

const leaseMs = 1_200;
const timeoutMs = 4_000;

interface Scene {
  readonly stage: Stage;
  readonly desk: Runtime;
  readonly run: Run;
  readonly frozen: WorkerProcess;
  readonly other: WorkerProcess;
}

interface Freeze {
  /** Instead of being frozen its event loop is blocked, by a call of its own. */
  readonly blockedMs?: number;
  readonly kind: StoreKind;
  readonly at: Ordeal["at"];
  readonly tool: ToolName;
}

/** Of two workers the one that has the run freezes, and the other is there to take over. */
async function freeze(context: TestContext, { kind, at, tool, blockedMs }: Freeze): Promise<Scene> {
  const stage = await freshStage(kind, context);
  const desk = await openDesk(stage);
  const clerk = createClerk(stage);
  const ordeal: Ordeal = blockedMs === undefined ? { kind: "freeze", at } : { kind: "block", at, ms: blockedMs };
  const settings = { leaseMs, timeoutMs, ordeal };
  const workers = [startWorker(stage, settings), startWorker(stage, settings)];
  await Promise.all(workers.map((worker) => worker.ready()));
  const run = await desk.start(clerk, planOf([{ tool }], [{ tool: "act" }]));
  const isFrozen = (worker: WorkerProcess): boolean => worker.calls().some(({ method }) => method === ordeal.kind);
  await until(() => workers.some(isFrozen));
  const [frozen, other] = workers.sort((a, b) => Number(isFrozen(b)) - Number(isFrozen(a)));
  return { stage, desk, run, frozen: frozen!, other: other! };
}

/** Z1, Z2, Z4. */
async function wake({ stage, desk, run, frozen, other }: Scene): Promise<readonly Entry[]> {
  const journal = await journalOf(stage, run.id);
  const world = worldOf(stage);
  frozen.signal("SIGCONT");
  await until(() => frozen.lateCalls().some(({ answer }) => answer === "fenced"));
  other.signal("SIGTERM");
  expect(await other.exited).toBe(0);
  const next = await desk.start(createClerk(stage), planOf([{ tool: "act" }]));
  expect(await next.result()).toMatchObject({ outcome: "completed" });
  frozen.signal("SIGTERM");
  expect(await frozen.exited).toBe(0);
  const stale = frozen.lateCalls().filter((call) => call.run === run.id);
  expect(stale.length).toBeGreaterThan(0);
  expect(stale.filter(({ answer }) => answer !== "fenced")).toEqual([]);
  expect(await journalOf(stage, run.id)).toEqual(journal);
  const since = worldOf(stage).slice(world.length);
  expect(since.filter((line) => line.run === run.id && line.kind === "begun")).toEqual([]);
  expect(since.filter((line) => line.run === next.id).map(({ kind, pid }) => [kind, pid])).toEqual([
    ["begun", frozen.pid],
    ["done", frozen.pid],
  ]);
  return journal;
}

type Unknown = Extract<Ticket, { kind: "unknown-outcome" }>;

/** Z3: refused as long as the attempt may still be running, by the time that the store wrote into its intent. */
async function decide({ run, stage }: Scene, answer: (ticket: Unknown) => Promise<{ at: number }>): Promise<void> {
  const idle = await run.idle();
  const ticket = idle.status === "waiting" ? idle.tickets[0] : undefined;
  if (ticket?.kind !== "unknown-outcome") throw new Error(`Expected an unknown outcome, found ${JSON.stringify(idle)}`);
  const intent = (await journalOf(stage, run.id)).find(
    (each) => each.type === "effect-intended" && each.kind === "tool",
  );
  const from = intent?.type === "effect-intended" ? intent.startBy + intent.timeoutMs : 0;
  expect(ticket.decidableFrom).toBe(from);
  await expect(answer(ticket)).rejects.toSatisfy((cause) => isHoldfastError(cause, "ticket-not-decidable"));
  let settled: { at: number } | undefined;
  await until(async () => {
    settled = await answer(ticket).catch(() => undefined);
    return settled !== undefined;
  });
  expect(settled?.at).toBeGreaterThanOrEqual(from);
}

function epochs(entries: readonly Entry[]): readonly number[] {
  return [...new Set(entries.flatMap(({ epoch }) => epoch ?? []))];
}

for (const kind of ["sqlite", "postgres"] as const) {
  const options = { timeout: 120_000 };

  test.concurrent(`${kind}: frozen between two commits of a step`, options, async (context) => {
    const scene = await freeze(context, { kind, at: "before-settlement", tool: "act" });
    expect(await scene.run.result()).toMatchObject({ outcome: "completed" });
    const journal = await wake(scene);
    // Done twice with one key, as an idempotent effect may be: once by each.
    const begun = worldOf(scene.stage).filter((line) => line.kind === "begun" && line.run === scene.run.id);
    expect(begun.map(({ pid }) => pid)).toEqual([scene.frozen.pid, scene.other.pid, scene.other.pid]);
    expect(begun[0]?.key).toBe(begun[1]?.key);
    expect(epochs(journal)).toEqual([1, 2]);
  });

  test.concurrent(`${kind}: frozen inside an attempt that must not be repeated`, options, async (context) => {
    const scene = await freeze(context, { kind, at: "in-tool", tool: "pay" });
    await decide(scene, (ticket) => ticket.markDone({ did: "by hand" }));
    expect(await scene.run.result()).toMatchObject({ outcome: "completed" });
    await wake(scene);
    const paid = worldOf(scene.stage).filter((line) => line.kind === "begun" && line.tool === "pay");
    expect(paid.map(({ pid }) => pid)).toEqual([scene.frozen.pid]);
  });

  test.concurrent(`${kind}: frozen between the intent and its effect`, options, async (context) => {
    const scene = await freeze(context, { kind, at: "after-intent", tool: "pay" });
    await decide(scene, (ticket) => ticket.runAgain());
    expect(await scene.run.result()).toMatchObject({ outcome: "completed" });
    await wake(scene);
    const paid = worldOf(scene.stage).filter((line) => line.kind === "begun" && line.tool === "pay");
    expect(paid.map(({ pid }) => pid)).toEqual([scene.other.pid]);
  });
}

test.concurrent("sqlite: blocked inside an attempt for five leases", { timeout: 120_000 }, async (context) => {
  const scene = await freeze(context, { kind: "sqlite", at: "in-tool", tool: "act", blockedMs: leaseMs * 5 });
  expect(await scene.run.result()).toMatchObject({ outcome: "completed" });
  expect(epochs(await wake(scene))).toEqual([1, 2]);
});
