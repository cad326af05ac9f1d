/** What the dispatcher's checks are written with: workers without an engine on one store, a clock that is moved by hand. */
import assert from "node:assert/strict";
import { createInMemoryBus } from "../../buses/in-memory.ts";
import { type ClaimingOptions, createClaimingDispatcher } from "../../dispatchers/claiming/claiming.ts";
import type { RunId, Scope } from "../../domain/ids.ts";
import type { Birth } from "../../ports/birth.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Dispatcher, HeldClaim } from "../../ports/dispatcher.ts";
import type { Store } from "../../ports/store.ts";
import { createFakeClock } from "../fake-clock.ts";
import { type Intercept, interceptStore } from "../intercept.ts";
import { ended, leaseMs, type OpenStore, scopeA, started } from "./store-fixtures.ts";

export const pollMs = 5_000;

/** One claim in the hand of a worker under test: it stays there until the check says how it goes on. */
export interface HeldRun {
  readonly run: RunId;
  readonly scope: Scope;
  readonly held: HeldClaim;
  /** Commits its end. */
  end(): Promise<void>;
}

export interface TestedWorker {
  readonly dispatcher: Dispatcher;
  /** Every claim that it ever had, in order. */
  readonly claims: readonly HeldRun[];
  readonly names: () => readonly string[];
  /** What it has now. */
  readonly inHand: () => readonly string[];
  /** Calls of a store method so far. */
  readonly calls: (method: keyof Store) => number;
  readonly warnings: readonly string[];
  /** How many of its sleeps are under way. */
  readonly sleeping: () => number;
}

export interface WorkerSetup extends Partial<ClaimingOptions> {
  /** Sits between the worker and the store. */
  readonly intercept?: Intercept;
  /** Breaks at once, whatever it gets. */
  readonly isBroken?: boolean;
  /** Goes on when its lease is lost, as one that waits for the store does. */
  readonly isDeaf?: boolean;
}

export interface DispatcherBench {
  readonly store: Store;
  readonly clock: Clock;
  /** Sets the wall clock of everyone, the store's too, without letting time pass. */
  jump(ms: number): void;
  worker(setup?: WorkerSetup): TestedWorker;
  /** Writes runs, and tells nobody. */
  born(...births: readonly Birth[]): Promise<void>;
  hint(run: string, scope?: Scope): Promise<void>;
  pass(ms: number): Promise<void>;
  quiet(): Promise<void>;
}

export type DispatcherCheck = (open: OpenStore) => Promise<void>;

export function dispatching(check: (bench: DispatcherBench) => Promise<void>): DispatcherCheck {
  return async (open) => {
    const time = createFakeClock();
    let offset = 0;
    let busy = 0;
    const clock: Clock = {
      now: () => time.now() + offset,
      monotonic: () => time.monotonic(),
      sleep: (ms, signal) => time.sleep(ms, signal),
    };
    const silent = { warn: () => undefined, note: () => undefined };
    const store = await open({ clock, logger: silent });
    const bus = createInMemoryBus(silent);
    const counted: Intercept = async (_call, proceed) => {
      busy += 1;
      try {
        return await proceed();
      } finally {
        busy -= 1;
      }
    };
    async function quiet(): Promise<void> {
      for (let calm = 0; calm < 5; calm = busy === 0 ? calm + 1 : 0) await new Promise(setImmediate);
    }
    const workers: Dispatcher[] = [];
    try {
      await check({
        store,
        clock,
        jump: (ms) => {
          offset += ms;
        },
        worker(setup = {}) {
          const worker = createWorker({ ...setup, clock, bus, store: interceptStore(store, counted) });
          workers.push(worker.dispatcher);
          return worker;
        },
        async born(...births) {
          for (const birth of births) assert.equal((await store.create(birth)).kind, "created");
        },
        hint: (run, scope = scopeA) => bus.publish({ scope, run: run as RunId, seq: 1 }),
        pass: (ms) => time.advance(ms, quiet),
        quiet,
      });
    } finally {
      for (const dispatcher of workers) {
        const closing = dispatcher.close();
        await time.advance(1_000, quiet); // longer than the grace of closing
        await closing;
      }
      await store.close();
    }
  };
}

interface Ports {
  readonly clock: Clock;
  readonly bus: ClaimingOptions["bus"];
  readonly store: Store;
}

let made = 0;

function createWorker({ intercept, isBroken = false, isDeaf = false, ...setup }: WorkerSetup & Ports): TestedWorker {
  const claims: HeldRun[] = [];
  const current = new Set<HeldRun>();
  const warnings: string[] = [];
  const counts = new Map<string, number>();
  let sleeping = 0;
  made += 1;
  const name = made;
  let drawn = 0;
  const count: Intercept = (call, proceed) => {
    counts.set(call.method, (counts.get(call.method) ?? 0) + 1);
    return intercept ? intercept(call, proceed) : proceed();
  };
  const clock: Clock = {
    ...setup.clock,
    async sleep(ms, signal) {
      sleeping += 1;
      await setup.clock.sleep(ms, signal);
      sleeping -= 1;
    },
  };
  const store = interceptStore(setup.store, count);
  const dispatcher = createClaimingDispatcher({
    ...{ scopes: [scopeA], agents: () => ["ann"], leaseMs, pollMs, closeGraceMs: 100, crashLimit: 5 },
    ...{ concurrency: 100, concurrencyPerAgent: {}, concurrencyPerScope: 100 },
    counts: { runsInHand: 0, leasesLost: 0, fencedWrites: 0, behindAnswers: 0 },
    ...setup,
    ...{ store, clock, logger: { warn: (text) => void warnings.push(text), note: () => undefined } },
    ids: {
      next: () => {
        drawn += 1;
        return `claim-${name}-${drawn}`;
      },
    },
  });
  dispatcher.serve(async (held) => {
    if (isBroken) {
      claims.push(heldRun(held, Promise.withResolvers<void>(), { ...setup, store }));
      throw new Error("broken on purpose");
    }
    const over = Promise.withResolvers<void>();
    const each = heldRun(held, over, { ...setup, store });
    claims.push(each);
    current.add(each);
    if (!isDeaf) held.lost.addEventListener("abort", () => over.resolve(), { once: true });
    try {
      await over.promise;
    } finally {
      current.delete(each);
    }
  });
  return {
    dispatcher,
    claims,
    names: () => claims.map(({ run }) => run),
    inHand: () => [...current].map(({ run }) => run),
    calls: (method) => counts.get(method) ?? 0,
    warnings,
    sleeping: () => sleeping,
  };
}

function heldRun(held: HeldClaim, over: PromiseWithResolvers<void>, { store, bus }: Ports): HeldRun {
  const { scope, run, epoch } = held.claim;
  const each: HeldRun = {
    run,
    scope,
    held,
    async end() {
      const expectedSeq = (await store.run({ scope, run }))?.head ?? 0;
      const entries = expectedSeq === 1 ? [started(0), ended] : [ended];
      const answer = await store.commit({ scope, run, epoch, expectedSeq, entries, position: 0 });
      assert.equal(answer.kind, "committed");
      over.resolve();
    },
  };
  const leave = (): void => void handOver().catch(over.reject);
  if (held.leaving.aborted) leave();
  else held.leaving.addEventListener("abort", leave, { once: true });
  async function handOver(): Promise<void> {
    const row = await store.run({ scope, run });
    if (row?.epoch === epoch && row.status !== "done") {
      await store.release({ scope, run, epoch, expectedSeq: row.head });
      await bus.publish({ scope, run, seq: row.head });
    }
    over.resolve();
  }
  return each;
}
