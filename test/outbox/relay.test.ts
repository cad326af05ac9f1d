/** The outbox relay: R1–R4, and F2 of births. */
import { expect, onTestFinished, test } from "vitest";
import { createInMemoryBus } from "../../src/buses/in-memory.ts";
import type { Relay } from "../../src/dispatchers/outbox/lane.ts";
import { createOutboxRelay } from "../../src/dispatchers/outbox/outbox-relay.ts";
import type { RunId } from "../../src/domain/ids.ts";
import type { Hint } from "../../src/ports/bus.ts";
import type { Delivery } from "../../src/ports/outbox-store.ts";
import type { Store, StoreDefinition } from "../../src/ports/store.ts";
import { sqlite } from "../../src/sqlite.ts";
import { memory } from "../../src/stores/memory/memory.ts";
import {
  birthOf,
  claimOne,
  deliveryTo,
  ended,
  keyOf,
  opened,
  scopeA,
  scopeB,
  started,
  stepped,
  ticketOf,
  waiting,
  write,
} from "../../src/testing/conformance/store-fixtures.ts";
import { createFakeClock, type FakeClock } from "../../src/testing/fake-clock.ts";
import { type Intercept, interceptStore } from "../../src/testing/intercept.ts";
import { freshPath } from "../stores/watched-store.ts";

const pollMs = 1_000;
const logger = { warn: () => undefined, note: () => undefined };

interface Bench {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly hints: Hint[];
  /** Every call of the relay's own store, in order. */
  readonly calls: string[];
  readonly relay: (intercept?: Intercept) => Relay;
}

async function bench(definition: StoreDefinition = memory()): Promise<Bench> {
  const clock = createFakeClock();
  const store = await definition.open({ clock, logger });
  onTestFinished(() => store.close());
  const bus = createInMemoryBus(logger);
  const hints: Hint[] = [];
  const calls: string[] = [];
  bus.subscribe((hint) => void hints.push(hint));
  const pass: Intercept = (_call, proceed) => proceed();
  const relay = (intercept = pass): Relay => {
    const watched = interceptStore(store, (call, proceed) => {
      calls.push(call.method);
      return intercept(call, proceed);
    });
    const made = createOutboxRelay({
      store: watched,
      bus,
      clock,
      logger,
      scopes: [scopeB, scopeA],
      leaseMs: 30_000,
      pollMs,
    });
    onTestFinished(() => made.close());
    return made;
  };
  return { store, clock, hints, calls, relay };
}

/** r1 causes the deliveries; r2 waits for them. */
async function cause({ store }: Bench, ...deliveries: readonly Delivery[]): Promise<void> {
  await store.create(birthOf("r1"));
  const claim = await claimOne(store);
  await store.create(birthOf("r2"));
  await write(store, claim, { entries: [started(0), stepped(1)], after: 1, deliveries });
}

async function inputsOf(store: Store, run = "r2"): Promise<readonly string[]> {
  const entries = await store.readRun({ ...keyOf(run), after: 0, limit: 999 });
  return entries.flatMap((entry) => (entry.type === "input-received" ? [entry.input] : []));
}

test("a delivery is posted to its run, told on the bus, and leaves the outbox", async () => {
  const world = await bench();
  await cause(world, deliveryTo("r2", "i1"), deliveryTo("r2", "i2"));
  world.relay();
  await world.clock.advance(1);
  expect(await inputsOf(world.store)).toEqual(["i1", "i2"]);
  expect(await world.store.deliveries(keyOf("r1"))).toEqual([]);
  expect(world.hints.map(({ run, seq }) => [run, seq])).toEqual([
    ["r2", 2],
    ["r2", 3],
  ]);
});

test("one that is due later is carried then, not before", async () => {
  const world = await bench();
  await cause(world, deliveryTo("r2", "i1", { due: world.clock.now() + 2_500 }));
  world.relay();
  await world.clock.advance(2_499);
  expect(await inputsOf(world.store)).toEqual([]);
  await world.clock.advance(1);
  expect(await inputsOf(world.store)).toEqual(["i1"]);
});

test("R4 an empty outbox costs one read per poll and scope, and no write", async () => {
  const world = await bench();
  world.relay();
  await world.clock.advance(10 * pollMs);
  expect(world.calls).toEqual(Array.from({ length: 11 * 2 }, () => "nextDelivery"));
});

test("R1 two relays share the work: each delivery is carried once", async () => {
  const world = await bench(sqlite(freshPath()));
  await cause(world, ...Array.from({ length: 150 }, (_, n) => deliveryTo("r2", `i${n}`)));
  world.relay();
  world.relay();
  const settled = async (): Promise<boolean> => (await world.store.deliveries(keyOf("r1"))).length === 0;
  await expect.poll(settled, { timeout: 20_000 }).toBe(true);
  expect(await inputsOf(world.store)).toHaveLength(150);
  expect(world.calls.filter((method) => method === "post")).toHaveLength(150);
});

test("R2 a process that dies after the post leaves the row to the next one, and the target takes the fact once", async () => {
  const world = await bench();
  await cause(world, deliveryTo("r2", "i1"));
  const never = new Promise<never>(() => undefined);
  const bus = createInMemoryBus(logger);
  const dead: Intercept = (call, proceed) => (call.method === "endDelivery" ? never : proceed());
  const options = { bus, clock: world.clock, logger, scopes: [scopeB, scopeA], leaseMs: 5_000, pollMs };
  createOutboxRelay({ ...options, store: interceptStore(world.store, dead) }); // it never comes back, nor is it closed
  await world.clock.advance(1);
  expect(await inputsOf(world.store)).toEqual(["i1"]);
  world.relay();
  await world.clock.advance(4_998);
  expect(await world.store.deliveries(keyOf("r1"))).toHaveLength(1);
  await world.clock.advance(pollMs);
  expect(await world.store.deliveries(keyOf("r1"))).toEqual([]);
  expect(await inputsOf(world.store)).toEqual(["i1"]);
});

test("R2 a process that dies before the post has taken nothing out of the outbox", async () => {
  const world = await bench();
  await cause(world, deliveryTo("r2", "i1"));
  const never = new Promise<never>(() => undefined);
  const dead: Intercept = (call, proceed) => (call.method === "post" ? never : proceed());
  const options = {
    bus: createInMemoryBus(logger),
    clock: world.clock,
    logger,
    scopes: [scopeB, scopeA],
    leaseMs: 5_000,
    pollMs,
  };
  createOutboxRelay({ ...options, store: interceptStore(world.store, dead) });
  await world.clock.advance(1);
  expect(await world.store.deliveries(keyOf("r1"))).toHaveLength(1);
  world.relay();
  await world.clock.advance(5_000 + pollMs);
  expect(await inputsOf(world.store)).toEqual(["i1"]);
  expect(await world.store.deliveries(keyOf("r1"))).toEqual([]);
});

test("R3 a target that is not there yet is tried again with growing pauses, and gets it when it is", async () => {
  const world = await bench();
  await cause(world, deliveryTo("r3", "i1"));
  world.relay();
  await world.clock.advance(1_000 + 2_000 + 500);
  const [pending] = await world.store.deliveries(keyOf("r1"));
  expect([pending?.attempts, pending?.error]).toEqual([3, "run-not-found"]);
  await world.store.create(birthOf("r3"));
  await world.clock.advance(3_499);
  expect(await inputsOf(world.store, "r3")).toEqual([]);
  await world.clock.advance(1);
  expect(await inputsOf(world.store, "r3")).toEqual(["i1"]);
});

test("R3 what is refused too often is given up and becomes evidence of its source", async () => {
  const world = await bench();
  await cause(world, deliveryTo("none", "i1"));
  world.relay();
  await world.clock.advance(2 * 3_600_000);
  expect(await world.store.deliveries(keyOf("r1"))).toEqual([]);
  const [dead, ...others] = await world.store.evidence(keyOf("r1"));
  expect(others).toEqual([]);
  expect(dead).toMatchObject({
    kind: "dead-delivery",
    body: { seq: 2, index: 0, attempts: 20, error: "run-not-found" },
  });
});

test("R3 what an ended run refuses is given up at once, but a request to end has what it wants", async () => {
  const world = await bench();
  const cancel: Delivery = { to: "run", run: keyOf("r2").run, fact: { type: "cancel-requested", by: "r1" } };
  await cause(world, deliveryTo("r2", "i1"), cancel);
  await write(world.store, await claimOne(world.store), { entries: [started(0), ended], after: 1 });
  world.relay();
  await world.clock.advance(1);
  expect(await world.store.deliveries(keyOf("r1"))).toEqual([]);
  const evidence = await world.store.evidence(keyOf("r1"));
  expect(evidence.map(({ body }) => body)).toMatchObject([{ index: 0, attempts: 1, error: "run-ended" }]);
});

test.each([
  ["the answer to its birth is lost each time: it tells of its end itself", true, []],
  ["its birth fails each time: its parent is told", false, ["child-ended"]],
] as const)("F2 a birth is given up; %s", async (_what, isBorn, told) => {
  const world = await bench();
  const { store } = world;
  const ticket = ticketOf("r1", 1, { kind: "child" });
  const { entry, ...rest } = birthOf("c1", { agent: "bob" });
  const identity = { ...entry.identity, parentRun: "r1" as RunId };
  const delegated = { ticket: ticket.id, hash: ticket.hash, path: [] };
  const birth = { ...rest, entry: { ...entry, identity, delegated } };
  await store.create(birthOf("r1"));
  const entries = [started(0), opened(ticket), waiting];
  await write(store, await claimOne(store), { entries, after: 1, deliveries: [{ to: "birth", birth }] });
  world.relay(async (call, proceed) => {
    if (call.method !== "create") return proceed();
    if (isBorn) await proceed();
    throw new Error("the connection broke");
  });
  await world.clock.advance(2 * 3_600_000);
  expect(await store.evidence(keyOf("r1"))).toMatchObject([{ kind: "dead-delivery" }]);
  expect((await store.run(keyOf("c1"))) !== undefined).toBe(isBorn);
  const heard = await store.readRun({ ...keyOf("r1"), after: 0, limit: 99 });
  const decisions = heard.flatMap((each) => (each.type === "ticket-decided" ? [each.decision.kind] : []));
  expect(decisions).toEqual(told);
});

test("a store that fails for a while loses nothing", async () => {
  const world = await bench();
  await cause(world, deliveryTo("r2", "i1"), deliveryTo("r2", "i2"));
  let failures = 6;
  world.relay((call, proceed) => {
    if (call.method !== "nextDelivery" && failures > 0) {
      failures -= 1;
      return Promise.reject(new Error(`${call.method} failed`));
    }
    return proceed();
  });
  await world.clock.advance(120_000);
  expect(failures).toBe(0);
  expect(new Set(await inputsOf(world.store))).toEqual(new Set(["i1", "i2"]));
  expect(await world.store.deliveries(keyOf("r1"))).toEqual([]);
});
