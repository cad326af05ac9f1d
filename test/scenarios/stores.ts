/** Every scenario runs on every store. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, onTestFinished } from "vitest";
import { memory } from "../../src/index.ts";
import type { Claim, ClaimRequest, Store, StoreDefinition, StoreDeps } from "../../src/ports/store.ts";
import { sqlite } from "../../src/sqlite.ts";
import { type Intercept, interceptStore } from "../../src/testing/intercept.ts";
import { turn } from "../../src/testing/test-process.ts";
import { type PooledStore, pooledStore } from "../postgres/pooled-store.ts";

export function onEveryStore(scenarios: (freshStore: () => StoreDefinition) => void): void {
  describe("on memory", () => scenarios(() => memory()));
  describe("on sqlite", () => scenarios(freshFiles()));
  describe("on postgres", () => scenarios(freshSchemas()));
}

/** A file of its own for each call, all of them gone after the tests. */
export function freshFiles(): () => StoreDefinition {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-scenarios-"));
  let count = 0;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => {
    count += 1;
    return sqlite(join(folder, `${count}.db`));
  };
}

/** Empty tables for each call inside a test; one that has ended leaves its own, emptied, to the next. */
export function freshSchemas(): () => StoreDefinition {
  const free: Promise<PooledStore>[] = [];
  const made: Promise<PooledStore>[] = [];
  afterAll(async () => {
    for (const store of made) await (await store).close();
  });
  function take(): Promise<PooledStore> {
    const store = free.pop() ?? pooledStore();
    if (!made.includes(store)) made.push(store);
    onTestFinished(async () => {
      while (callsUnderWay() > 0) await turn();
      await (await store).empty();
      free.push(store);
    });
    return store;
  }
  return () => {
    const store = take();
    return {
      name: "postgres",
      open: async (deps) => interceptStore(lookingAgain(await (await store).open(deps), deps), count),
    };
  };
}

/**
 * A claim passes over runs whose row another call holds just then. The dispatcher looks again a millisecond later; where
 * time stands still, the store does it.
 */
function lookingAgain(store: Store, { clock }: StoreDeps): Store {
  async function claim(request: ClaimRequest): Promise<readonly Claim[]> {
    for (let looks = 1; ; looks += 1) {
      const claims = await store.claim(request);
      const due = claims.length > 0 || looks > 20 ? undefined : await store.nextDue(request);
      if (due === undefined || due > clock.now()) return claims;
      await turn();
    }
  }
  return { ...store, claim };
}

let underWay = 0;

const count: Intercept = (_call, proceed) => {
  underWay += 1;
  return proceed().finally(() => {
    underWay -= 1;
  });
};

/** Calls that have reached a server and have no answer yet: their time is real, and is not up to a test. */
export function callsUnderWay(): number {
  return underWay;
}
