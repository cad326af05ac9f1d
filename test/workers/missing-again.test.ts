/** U2: an absence that is over is forgotten, in every scope. */
import { expect, test } from "vitest";
import { createInMemoryBus } from "../../src/buses/in-memory.ts";
import { startCaretaker } from "../../src/dispatchers/claiming/caretaker.ts";
import type { Scope } from "../../src/domain/ids.ts";
import type { Advance } from "../../src/ports/dispatcher.ts";
import { memory } from "../../src/stores/memory/memory.ts";
import { birthOf, ended, scopeA, scopeB, started, write } from "../../src/testing/conformance/store-fixtures.ts";
import { createFakeClock } from "../../src/testing/fake-clock.ts";

const logger = { warn: () => undefined, note: () => undefined };
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

for (const again of [scopeA, scopeB]) {
  test(`U2 an agent that was missing once, in scope ${scopeA}, is waited for as long the next time, in ${again}`, async () => {
    const clock = createFakeClock();
    const store = await memory().open({ clock, logger });
    const seen: string[] = [];
    const advance: Advance = async ({ claim }) => {
      seen.push(claim.run);
      await write(store, claim, { entries: [started(0), ended], after: 1 });
    };
    const ports = { store, bus: createInMemoryBus(logger), clock, ids: { next: () => String(Math.random()) }, logger };
    const served = {
      scopes: [scopeA, scopeB] as readonly Scope[],
      agents: () => ["ann"],
      leaseMs: 30_000,
      unservedMs: 60_000,
      mayTake: async () => true,
    };
    await store.create(birthOf("first", { agent: "bob" }));
    const caretaker = startCaretaker({ ...ports, ...served }, advance);
    await clock.advance(80_000, quiet);
    expect(seen).toEqual(["first"]);
    // A worker of bob's comes, stays for an hour, and goes for a deploy.
    await store.announce({ worker: "w", agents: ["bob"], scopes: "all", ttlMs: 3_600_000 });
    await clock.advance(3_600_000, quiet);
    await store.announce({ worker: "w", agents: [], scopes: "all", ttlMs: 1 });
    await store.create(birthOf("second", { agent: "bob", scope: again }));
    await clock.advance(30_000, quiet);
    expect(seen).toEqual(["first"]);
    const closing = caretaker.close();
    await clock.advance(1, quiet);
    await closing;
  });
}
