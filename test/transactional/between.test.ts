/**
 * What comes between `prepare` and `apply`: another worker, a cancel, an interrupt, the end of the run's time. The commit
 * that applies is held back until it has come.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { agent, type RunResult, tool } from "../../src/index.ts";
import type { Commit, StoreDefinition } from "../../src/ports/store.ts";
import type { Runtime, StartOptions } from "../../src/runtime/runtime.ts";
import { createFakeClock, type FakeClock } from "../../src/testing/fake-clock.ts";
import type { Intercept, PortCall } from "../../src/testing/intercept.ts";
import { countingIds, startProcess, type TestProcess } from "../../src/testing/test-process.ts";
import { scripted } from "../../src/testing.ts";
import { aPostgresPlace, aSqlitePlace, bookOnPostgres, bookOnSqlite, type Place } from "./bookings.ts";

interface Scene {
  readonly place: Place;
  readonly clock: FakeClock;
  /** The worker whose commit is held back, and another one. */
  readonly first: TestProcess;
  readonly second: () => Promise<TestProcess>;
  /** `apply` is about to be called. */
  readonly ready: Promise<void>;
  readonly letGo: () => void;
  /** The run of a worker that freezes goes no further than this after its call, until it may. */
  readonly goOn: () => void;
  start(runtime: Runtime, options?: StartOptions): Promise<string>;
}

const leaseMs = 30_000;
const wallTime = 10_000;

type Stage = (clock: FakeClock) => Promise<{ readonly place: Place; readonly book: ReturnType<typeof bookOnSqlite> }>;

const stages: Record<string, Stage> = {
  SQLite: async () => {
    const place = await aSqlitePlace();
    const book = bookOnSqlite((tx, { n }, { callId }) => tx.run("INSERT INTO bookings VALUES (?, ?)", callId, n));
    return { place, book };
  },
  Postgres: async () => {
    const place = await aPostgresPlace({ time: "clock" });
    const book = bookOnPostgres(
      async (tx, { n }, { callId }) =>
        (await tx.query(`INSERT INTO ${place.bookings} VALUES ($1, $2)`, [callId, n])).rowCount,
    );
    return { place, book };
  },
};

function isApplying({ method, args }: PortCall): boolean {
  return method === "commit" && (args[0] as Commit).transaction !== undefined;
}

/** A worker that freezes there reaches the store no more, also not to renew its leases. */
async function aScene(stage: Stage, { budget = {}, freezes = false } = {}): Promise<Scene> {
  const clock = createFakeClock();
  const { place, book } = await stage(clock);
  const rested = Promise.withResolvers<void>();
  if (!freezes) rested.resolve();
  const rest = tool({ name: "rest", description: "Rests", input: z.object({}), execute: () => rested.promise });
  const model = scripted([
    { calls: [{ tool: "book", input: { n: 1 } }] },
    { calls: [{ tool: "rest", input: {} }] },
    "Done.",
  ]);
  const clerk = agent({ name: "clerk", instructions: "Book.", tools: [book, rest], model, budget });
  const ready = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  let isFrozen = false;
  const hold: Intercept = async (call, proceed) => {
    if (isApplying(call)) ready.resolve();
    else if (!(isFrozen && call.port === "store")) return proceed();
    isFrozen = freezes;
    await held.promise;
    return proceed();
  };
  const boot = async (name: string, intercept?: Intercept): Promise<TestProcess> => {
    const store: StoreDefinition = place.definition;
    const settings = { leaseMs, pollMs: 60_000 };
    const ids = countingIds(name);
    const process = await startProcess({
      store,
      agents: [clerk],
      clock,
      ids,
      settings,
      ...(intercept ? { intercept } : {}),
    });
    onTestFinished(async () => {
      held.resolve();
      rested.resolve();
      const closing = process.runtime.close();
      await clock.advance(leaseMs);
      await closing;
    });
    return process;
  };
  return {
    ...{ place, clock, ready: ready.promise, letGo: held.resolve, goOn: rested.resolve },
    first: await boot("one", hold),
    second: () => boot("two"),
    start: async (runtime, options) => (await runtime.start(clerk, "Book.", { thread: "t", ...options })).id,
  };
}

/** Fake time moves on until it is there. */
async function soon<T>(clock: FakeClock, wanted: Promise<T>): Promise<T> {
  let isThere = false;
  const marked = wanted.finally(() => {
    isThere = true;
  });
  for (let left = 500; !isThere && left > 0; left -= 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(100);
  }
  return marked;
}

/** What the calls of `book` came to; the others have no row. */
async function bookedIn(place: Place): Promise<readonly string[]> {
  const results = (await place.results()).filter(({ call }) => call.endsWith(".1.0"));
  const done = results.filter(({ result }) => result.kind === "value").map(({ call }) => call);
  expect(await place.rows()).toEqual(done);
  return results.map(({ result }) => result.kind);
}

function ended(runtime: Runtime, id: string): Promise<RunResult<unknown>> {
  return runtime.runs.get(id).result({ signal: AbortSignal.timeout(20_000) });
}

for (const [store, stage] of Object.entries(stages)) {
  describe(`on ${store}`, () => {
    test("X1 a worker that lost the run meanwhile writes nothing: the other one's row is the only one", async () => {
      const { first, second, clock, place, ready, letGo, goOn, start } = await aScene(stage, { freezes: true });
      const id = await start(first.runtime);
      await ready;
      await clock.advance(leaseMs + 1);
      const other = await second();
      await expect.poll(() => place.rows(), { timeout: 10_000 }).toHaveLength(1);
      letGo();
      await first.quiet();
      goOn();
      expect(await soon(clock, ended(other.runtime, id))).toMatchObject({ outcome: "completed" });
      expect(await place.rows()).toEqual([`${id}.1.0`]);
    });

    test("X3 a cancel that came before is obeyed: nothing is applied", async () => {
      const { first, clock, place, ready, letGo, start } = await aScene(stage);
      const id = await start(first.runtime);
      await ready;
      await first.runtime.runs.get(id).cancel();
      letGo();
      expect(await soon(clock, ended(first.runtime, id))).toMatchObject({ outcome: "cancelled" });
      expect(await bookedIn(place)).toEqual(["error"]);
    });

    test("X3 an interrupt that came before is obeyed: nothing is applied, and the next run has the thread", async () => {
      const { first, clock, place, ready, letGo, start } = await aScene(stage);
      const id = await start(first.runtime);
      await ready;
      const next = await start(first.runtime, { whenBusy: "interrupt" });
      letGo();
      expect(await soon(clock, ended(first.runtime, id))).toMatchObject({ outcome: "cancelled" });
      expect(await soon(clock, ended(first.runtime, next))).toMatchObject({ outcome: "completed" });
      expect(await place.rows()).toEqual([`${next}.1.0`]);
      expect([...(await bookedIn(place))].sort()).toEqual(["error", "value"]);
    });

    test("X1 time that runs out during the commit ends the run after it, with the result of what was applied", async () => {
      const { first, clock, place, ready, letGo, start } = await aScene(stage, { budget: { wallTime } });
      const id = await start(first.runtime);
      await ready;
      await clock.advance(wallTime + 1);
      letGo();
      const result = await soon(clock, ended(first.runtime, id));
      expect(result.outcome).not.toBe("completed");
      expect(await bookedIn(place)).toEqual(["value"]);
    });
  });
}
