/** A worker whose resolver is away, and comes back, dies before and after every call to a port (A2). */
import { expect, test } from "vitest";
import { z } from "zod";
import { foldAll } from "../../src/domain/apply.ts";
import type { Entry } from "../../src/domain/entry.ts";
import type { Scope } from "../../src/domain/ids.ts";
import { readAfter } from "../../src/engine/load.ts";
import { type AgentResolver, agent, memory, tool } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { createFakeClock, type FakeClock } from "../../src/testing/fake-clock.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { countingIds, startProcess, type TestProcess } from "../../src/testing/test-process.ts";

const leaseMs = 30_000;
const unservedMs = 60_000;

interface Cut {
  readonly at: number;
  readonly when: "before" | "after";
  /** The registry is away while the worker lives that dies. */
  readonly isAway: boolean;
}

interface Stage {
  readonly store: StoreDefinition;
  readonly clock: FakeClock;
  isAway: boolean;
  readonly paid: Set<string>;
  boot(intercept?: Intercept): Promise<TestProcess>;
}

function stageOf(): Stage {
  const [store, clock, ids] = [memory(), createFakeClock(), countingIds()];
  const paid = new Set<string>();
  const pay = tool({
    name: "pay",
    description: "Pays",
    input: z.object({}),
    effect: "idempotent",
    execute: (_input, { idempotencyKey }) => {
      paid.add(idempotencyKey);
      return "paid";
    },
  });
  const model = scripted([{ calls: [{ tool: "pay", input: {} }] }, "Done."]);
  const teller = agent({ name: "teller", model, instructions: "", tools: [pay] });
  const resolver: AgentResolver = {
    names: () => ["teller"],
    resolve: () => {
      if (stage.isAway) throw new Error("away");
      return teller;
    },
  };
  const settings = { leaseMs, pollMs: 60_000, limits: { unservedMs }, resolver };
  const stage: Stage = {
    ...{ store, clock, paid, isAway: false },
    boot: (intercept) => startProcess({ store, agents: [], clock, ids, settings, ...(intercept ? { intercept } : {}) }),
  };
  return stage;
}

/** Lets the worker try as often as it likes to at once; false when it made fewer calls than that. */
async function diesAt({ at, when }: Cut, { boot, clock }: Stage): Promise<boolean> {
  let calls = 0;
  let isDoomed = false;
  let worker: TestProcess | undefined;
  const die = (): void => {
    isDoomed = true;
    worker?.kill();
  };
  const cut: Intercept = async ({ method }, proceed) => {
    if (method === "sleep") return proceed();
    calls += 1;
    const isTheOne = calls === at;
    if (isTheOne && when === "before") die();
    if (isDoomed) return new Promise(() => undefined);
    const answer = await proceed().finally(() => (isTheOne ? die() : undefined));
    return answer;
  };
  worker = await boot(cut);
  if (isDoomed) worker.kill();
  await worker.quiet();
  await clock.advance(1_000, worker.quiet);
  worker.kill();
  return isDoomed;
}

async function entriesOf(run: string, { store, clock }: Stage): Promise<readonly Entry[]> {
  const open = await store.open({ clock, logger: { warn: () => undefined, note: () => undefined } });
  return readAfter({ scope: "default" as Scope, run: run as never }, 0, open);
}

async function playCut(cut: Cut): Promise<boolean> {
  const stage = stageOf();
  const { clock } = stage;
  const first = await stage.boot();
  const { id } = await first.runtime.start("teller", "Pay", { startAt: clock.now() + 1 });
  await first.quiet();
  first.kill();
  stage.isAway = true;
  await clock.advance(leaseMs + 1);
  if (!cut.isAway) {
    const waits = await stage.boot();
    await clock.advance(1_000, waits.quiet);
    expect(foldAll(await entriesOf(id, stage)).tickets.map(({ kind }) => kind)).toEqual(["missing-capability"]);
    waits.kill();
    stage.isAway = false;
    await clock.advance(leaseMs + unservedMs);
  }
  const died = await diesAt(cut, stage);
  stage.isAway = false;
  await clock.advance(leaseMs + 1);
  const last = await stage.boot();
  await clock.advance(leaseMs + 2 * unservedMs, last.quiet);
  const entries = await entriesOf(id, stage);
  const state = foldAll(entries);
  expect(state.outcome, JSON.stringify(cut)).toEqual({ kind: "completed", reason: "natural" });
  expect(state.tickets).toEqual([]);
  expect(stage.paid.size, JSON.stringify(cut)).toBe(1);
  expect(entries.filter(({ type }) => type === "ticket-opened").length).toBeLessThanOrEqual(1);
  last.kill();
  return died;
}

test.each([
  ["before", true],
  ["after", true],
  ["before", false],
  ["after", false],
] as const)(
  "A2 its worker dies %s each call, the registry being away: %s; the run goes on by itself",
  async (when, isAway) => {
    let cuts = 0;
    while (await playCut({ at: cuts + 1, when, isAway })) cuts += 1;
    expect(cuts).toBeGreaterThan(isAway ? 5 : 10);
  },
);
