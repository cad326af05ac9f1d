/** Announcements of workers, and agents that nobody has (K1, K2). */
import assert from "node:assert/strict";
import type { Scope } from "../../domain/ids.ts";
import type { Store } from "../../ports/store.ts";
import { birthOf, checked, claimAll, leaseMs, type StoreCheck, scopeA, scopeB } from "./store-fixtures.ts";

const dueForMs = 1_000;

function unserved(store: Store, scope: Scope = scopeA): Promise<readonly string[]> {
  return store.unserved({ scope, dueForMs, limit: 9 });
}

export const workers: Record<string, StoreCheck> = {
  "K2 an agent is unserved once a run of it has been claimable for so long": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1", { agent: "bob" }));
    await store.create(birthOf("r2", { agent: "ann" }));
    assert.deepEqual(await unserved(store), []);
    clock.advance(dueForMs);
    assert.deepEqual(await unserved(store), ["ann", "bob"]);
    assert.deepEqual(await store.unserved({ scope: scopeA, dueForMs, limit: 1 }), ["ann"]);
    assert.deepEqual(await unserved(store, scopeB), []);
  }),

  "K2 an agent whose runs are in hand or done is not unserved": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1", { agent: "ann" }));
    clock.advance(dueForMs);
    assert.equal((await claimAll(store, { agents: ["ann"] })).length, 1);
    assert.deepEqual(await unserved(store), []);
    clock.advance(leaseMs + dueForMs);
    assert.deepEqual(await unserved(store), ["ann"]);
  }),

  "K1 an announcement counts for its scopes until its time is over": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1", { agent: "ann" }));
    await store.create(birthOf("r2", { agent: "ann", scope: scopeB }));
    clock.advance(dueForMs);
    await store.announce({ worker: "w1", agents: ["ann"], scopes: [scopeA], ttlMs: 500 });
    assert.deepEqual([await unserved(store), await unserved(store, scopeB)], [[], ["ann"]]);
    clock.advance(500);
    assert.deepEqual(await unserved(store), ["ann"]);
    await store.announce({ worker: "w2", agents: ["ann"], scopes: "all", ttlMs: 500 });
    assert.deepEqual([await unserved(store), await unserved(store, scopeB)], [[], []]);
  }),

  "K1 the next announcement of a worker replaces the one before": checked(async ({ store, clock }) => {
    await store.create(birthOf("r1", { agent: "ann" }));
    clock.advance(dueForMs);
    await store.announce({ worker: "w1", agents: ["ann", "bob"], scopes: [scopeA], ttlMs: 500 });
    await store.announce({ worker: "w2", agents: ["bob"], scopes: [scopeA], ttlMs: 500 });
    assert.deepEqual(await unserved(store), []);
    await store.announce({ worker: "w1", agents: ["bob"], scopes: [scopeA], ttlMs: 500 });
    assert.deepEqual(await unserved(store), ["ann"]);
    await store.announce({ worker: "w1", agents: [], scopes: [scopeA], ttlMs: 500 });
    assert.deepEqual(await unserved(store), ["ann"]);
  }),
};
