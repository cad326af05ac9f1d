/** What the caretaker does with runs that it cannot set aside, or not at once. */
import { expect, test } from "vitest";
import { createInMemoryBus } from "../../src/buses/in-memory.ts";
import { type CaretakerOptions, startCaretaker } from "../../src/dispatchers/claiming/caretaker.ts";
import type { RunId } from "../../src/domain/ids.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Advance } from "../../src/ports/dispatcher.ts";
import type { Store } from "../../src/ports/store.ts";
import { memory } from "../../src/stores/memory/memory.ts";
import {
  birthOf,
  claimOne,
  keyOf,
  opened,
  scopeA,
  started,
  ticketOf,
  waiting,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { createFakeClock } from "../../src/testing/fake-clock.ts";

const logger = { warn: () => undefined, note: () => undefined };
const unservedMs = 60_000;

const served = { scopes: [scopeA], agents: () => ["ann"], leaseMs: 30_000, unservedMs };

function portsOf(store: Store, clock: Clock): Omit<CaretakerOptions, keyof typeof served> {
  let drawn = 0;
  const next = (): string => {
    drawn += 1;
    return `id-${drawn}`;
  };
  return { store, bus: createInMemoryBus(logger), clock, ids: { next }, logger, mayTake: async () => true };
}

async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

test("U2 a run that cannot be set aside keeps no other from it, nor makes it look like one that kills", async () => {
  const clock = createFakeClock();
  const store = await memory().open({ clock, logger });
  for (const run of ["r0", "r1", "r2"]) await store.create(birthOf(run, { agent: "bob" }));
  const setAside: RunId[] = [];
  const advance: Advance = async ({ claim }) => {
    if (claim.run === "r0") throw new Error("nothing can read it");
    setAside.push(claim.run);
    await store.release({ ...keyOf(claim.run), epoch: claim.epoch, expectedSeq: 1, wake: clock.now() + 1e9 });
  };
  const caretaker = startCaretaker({ ...portsOf(store, clock), ...served }, advance);
  await clock.advance(2 * unservedMs, quiet);
  expect(setAside.slice(0, 2).sort()).toEqual(["r1", "r2"]);
  expect((await store.run(keyOf("r2")))?.crashes).toBe(0);
  await caretaker.close();
  await store.close();
});

test("U3 however many tickets of other agents are open, those of its own are answered", async () => {
  const clock = createFakeClock();
  const store = await memory().open({ clock, logger });
  for (let n = 1; n <= 1_100; n += 1) {
    const agent = n === 1_100 ? "ann" : "gone";
    await store.create(birthOf(`r${n}`, { agent }));
    const ticket = ticketOf(`r${n}`, 1, { kind: "missing-capability", agent });
    await write(store, await claimOne(store, { agents: [agent] }), {
      entries: [started(0), opened(ticket), waiting],
      after: 1,
    });
  }
  const advance: Advance = async () => undefined;
  const caretaker = startCaretaker({ ...portsOf(store, clock), ...served }, advance);
  await quiet();
  const decided = await store.tickets({ scope: scopeA, status: "decided", limit: 9 });
  expect(decided.map(({ ticket }) => ticket.run)).toEqual(["r1100"]);
  await caretaker.close();
  await store.close();
});
