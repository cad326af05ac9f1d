/** Cancel in every state of a run and of a call, at the end of every chain, with and without the death of our process. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Entry } from "../../src/domain/entry.ts";
import { defaultScope, type RunId } from "../../src/domain/ids.ts";
import type { RunStatus, StoppedRun } from "../../src/domain/run.ts";
import type { CallStatus, RunState } from "../../src/domain/run-state.ts";
import { loadState, readAfter } from "../../src/engine/load.ts";
import { memory } from "../../src/index.ts";
import type { Commit, Store, StoreDefinition } from "../../src/ports/store.ts";
import { sqlite } from "../../src/sqlite.ts";
import { turn } from "../../src/testing/test-process.ts";
import { type TestRuntime, testRuntime } from "../../src/testing.ts";
import { type Chain, chain, type Hold, type Shape, shapes } from "./cancel-world.ts";
import { runsOf } from "./family.ts";

/** A state that joins one of the tables does not compile until it has a row here. */
const runStates: Readonly<Record<RunStatus, Hold>> = {
  created: { birth: true },
  running: { model: true },
  waiting: { asks: true, work: "waits" },
  done: { ends: true },
};

const callStates: Readonly<Record<CallStatus, Hold>> = {
  proposed: { hook: "tool-gate" },
  asked: { asks: true },
  ready: { hook: "before-tool" },
  running: { work: "hangs" },
  unknown: { work: "breaks", ofRemote: "running" },
  concluded: { hook: "after-tool" },
  settled: { beside: true },
};

interface Row {
  readonly kind: "run" | "call";
  readonly state: string;
  readonly hold: Hold;
  readonly shape: Shape;
  readonly dies: boolean;
}

const rows: readonly Row[] = (Object.keys(shapes) as Shape[]).flatMap((shape) =>
  [false, true].flatMap((dies) => [
    ...Object.entries(runStates).map(([state, hold]) => ({ kind: "run" as const, state, hold, shape, dies })),
    ...Object.entries(callStates).map(([state, hold]) => ({ kind: "call" as const, state, hold, shape, dies })),
  ]),
);

interface World extends Chain {
  readonly t: TestRuntime;
  readonly store: () => Store;
  readonly release: () => void;
  /** What is kept from the store never gets there; nothing more is kept from it. */
  readonly forget: () => void;
}

async function open({ shape, hold, kind }: Row, inner: StoreDefinition): Promise<World> {
  let opened: Store | undefined;
  const definition: StoreDefinition = {
    ...inner,
    open: async (parts) => {
      opened ??= await inner.open(parts);
      return opened;
    },
  };
  const made = chain(shape, hold, kind);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const started = new Set<string>();
  let isHolding = true;
  const forget = (): void => {
    isHolding = false;
  };
  const t = await testRuntime({
    agents: [made.root],
    store: definition,
    intercept: async (call, proceed) => {
      const { run, entries } = (call.method === "commit" ? call.args[0] : {}) as Partial<Commit>;
      if (run && entries?.some(({ type }) => type === "run-started")) started.add(run);
      const isDeepest = run !== undefined && run === [...started][shapes[shape] - 1];
      if (hold.birth && isDeepest && isHolding) await held;
      return proceed();
    },
  });
  return { ...made, t, store: () => opened as Store, release, forget };
}

async function statesOf({ t, store }: World): Promise<readonly RunState[]> {
  const runs = await runsOf(t);
  const loaded = runs.map(({ run }) => loadState({ scope: defaultScope, run: run as RunId }, store()));
  return (await Promise.all(loaded)).map(({ state }) => state);
}

async function until(world: World, isSo: (states: readonly RunState[]) => boolean): Promise<readonly RunState[]> {
  for (let turns = 0; turns < 300; turns += 1) {
    const states = await statesOf(world);
    if (isSo(states)) return states;
    await turn();
  }
  const found = (await statesOf(world)).map(
    ({ created, status, step }) => `${created.identity.agent} ${status} ${step?.calls.map((each) => each.status)}`,
  );
  throw new Error(`The state was not reached: ${found.join(" · ")}`);
}

/** The deepest run, or the call of the deepest one that has calls, is where the row wants it. */
function isThere(row: Row): (states: readonly RunState[]) => boolean {
  const { kind, state, hold, shape } = row;
  const isRemote = shape === "root → child → remote";
  const wanted = isRemote ? (hold.ofRemote ?? state) : state;
  return (states) => {
    const at = states[shapes[shape] - 1];
    if (kind === "run") return at?.status === state && (state !== "running" || at.step !== undefined);
    const caller = isRemote ? states[1] : at;
    return caller?.step?.calls[0]?.status === wanted && (!isRemote || isSent(at, hold));
  };
}

/** The other side has what it is to stand still at. */
function isSent(at: RunState | undefined, { work, beside }: Hold): boolean {
  if (work === "breaks") return at?.status === "waiting";
  return work || beside ? at?.remote?.task !== undefined : true;
}

async function journalOf({ store }: World, run: RunId): Promise<readonly Entry[]> {
  return readAfter({ scope: defaultScope, run }, 0, store());
}

async function cancelAt(row: Row, inner: StoreDefinition): Promise<void> {
  const world = await open(row, inner);
  const { t, calls, forget } = world;
  await using _closing = t;
  const run = await t.runtime.start("root", "Go");
  const before = await until(world, isThere(row));
  const made = new Map(calls);
  const cancelled = await run.cancel({ by: "ana" });
  forget();
  if (row.dies) await t.restart();
  else await letGo(world, row);
  await t.advance("5m");
  const handle = t.runtime.runs.get(run.id);
  const receipt = await (row.dies ? await handle.cancel() : cancelled).receipt();
  await checkEnds(world);
  const after = await statesOf(world);
  checkReceipt(receipt.descendants, before, after);
  if (!row.dies) expect(receipt.descendants).toHaveLength(stillOpen(after, before));
  checkRemote(world, row);
  if (!row.dies) expect(calls).toEqual(made); // a request to end leads to no call
  expect(await t.runtime.tickets.list({ root: run.id, status: "open" })).toEqual([]);
  const seqs = (await statesOf(world)).map(({ seq }) => seq);
  const counted = new Map(calls);
  expect(await (await handle.cancel({ by: "bob" })).receipt()).toEqual(receipt);
  await t.restart();
  await t.advance("1h");
  expect(await (await t.runtime.runs.get(run.id).cancel()).receipt()).toEqual(receipt);
  expect((await statesOf(world)).map(({ seq }) => seq)).toEqual(seqs);
  expect(calls).toEqual(counted);
}

/** How many below had not ended before. */
function stillOpen(after: readonly RunState[], before: readonly RunState[]): number {
  return after.slice(1).length - before.slice(1).filter(({ status }) => status === "done").length;
}

/** It learns of its end before its start can be written. */
async function letGo(world: World, { hold }: Row): Promise<void> {
  if (hold.birth) await until(world, (states) => states.at(-1)?.cancel !== undefined);
  world.release();
}

/** One end each with nothing after it, no call of a model that its journal has not, nothing left open. */
async function checkEnds(world: World): Promise<void> {
  for (const { created, tickets, status } of await statesOf(world)) {
    const { run, agent } = created.identity;
    const entries = await journalOf(world, run);
    expect([agent, status, tickets]).toEqual([agent, "done", []]);
    expect(entries.flatMap(({ type, seq }) => (type === "run-ended" ? [seq] : []))).toEqual([entries.length]);
    const intents = entries.filter((entry) => entry.type === "effect-intended" && entry.kind === "model");
    expect(world.calls.get(agent) ?? 0).toBeLessThanOrEqual(intents.length);
  }
}

/**
 * Everybody below who had not ended before is named, with what became of it. Where our process died, one may have ended,
 * and its parent have taken that, before its parent was asked: then nobody has asked it, and it need not be named.
 */
function checkReceipt(told: readonly StoppedRun[], before: readonly RunState[], after: readonly RunState[]): void {
  const wasOver = new Set(before.flatMap(({ status, created }) => (status === "done" ? [created.identity.run] : [])));
  const below = after.slice(1).filter(({ created }) => !wasOver.has(created.identity.run));
  const named = below.map(({ created: { identity }, outcome }) => {
    const how = outcome?.kind === "cancelled" ? "stopped" : "finished-first";
    return { run: identity.run, agent: identity.agent, how };
  });
  const isTold = new Set(told.map(({ run }) => run));
  expect(told).toEqual(named.filter(({ run, how }) => how === "stopped" || isTold.has(run)));
}

/** The other side hears of it wherever it has a message whose task is not known to be finished, and only there. */
function checkRemote({ remote }: World, { hold, dies }: Row): void {
  if (!remote) return;
  const mayRun = remote.turns.length > 0 && (hold.work !== undefined || hold.beside || hold.model);
  const isTold = remote.aborts.length > 0;
  expect(isTold).toBe(Boolean(mayRun));
  if (!dies) expect(remote.aborts.length).toBeLessThanOrEqual(1);
}

describe.each(rows)("$shape, $kind $state, our process dies: $dies", (row) => {
  test("C7 ends once everywhere, and says so", () => cancelAt(row, memory()));
});

const kept = rows.filter(({ shape, state }) => shape !== "root" && ["asked", "running", "created"].includes(state));

describe.each(kept.filter(({ kind }) => kind === "call"))("SQLite: $shape, $state, dies: $dies", (row) => {
  test("C7 the same", async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-cancel-"));
    await cancelAt(row, sqlite(join(folder, "runs.db")));
    rmSync(folder, { recursive: true, force: true });
  });
});
