/** Sink lanes: D1–D5 of the port, N1–N3 of the relay. */
import { expect, test } from "vitest";
import { SinkRefusal } from "../../src/domain/errors.ts";
import type { Scope } from "../../src/domain/ids.ts";
import type { Sink } from "../../src/ports/sink.ts";
import { sqlite } from "../../src/sqlite.ts";
import { keyOf } from "../../src/testing/conformance/store-fixtures.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { freshPath } from "../stores/watched-store.ts";
import { bench, cause, closeGraceMs, leaseMs, listener, never, pending, pollMs, toSink } from "./bench.ts";

const hour = 3_600_000;

test("D2 a message that was taken leaves the outbox and is never delivered again", async () => {
  const { store, clock, relay } = await bench();
  await cause(store, { run: "r1" }, toSink("crm", "a"), toSink("crm", "b"));
  const crm = listener(clock);
  relay({ crm });
  await clock.advance(1);
  expect(await pending(store)).toBe(0);
  relay({ crm });
  await clock.advance(3 * hour);
  expect(crm.told.map(({ said, key, attempt }) => [said, key, attempt])).toEqual([
    ["a", "a:r1:2:0", 1],
    ["b", "a:r1:2:1", 1],
  ]);
});

test("D2 a sink that throws is told again with growing pauses and the same key", async () => {
  const { store, clock, relay } = await bench();
  const start = clock.now();
  await cause(store, { run: "r1" }, toSink("crm", "a"));
  const crm = listener(clock, (attempt) => {
    if (attempt < 5) throw new Error("not now");
  });
  relay({ crm });
  await clock.advance(hour);
  expect(crm.told.map(({ at }) => at - start)).toEqual([0, 1_000, 3_000, 7_000, 15_000]);
  expect(new Set(crm.told.map(({ key }) => key)).size).toBe(1);
  expect(crm.told.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
  expect(await pending(store)).toBe(0);
  expect(await store.evidence(keyOf("r1"))).toEqual([]);
});

test("D3 what fails too often is given up and is evidence of its run, with the message and the reason", async () => {
  const { store, clock, relay, logs } = await bench();
  await cause(store, { run: "r1" }, toSink("crm", "canary"));
  relay({ crm: { deliver: () => Promise.reject(new Error("canary is no good")), attempts: 3 } });
  await clock.advance(hour);
  expect(await pending(store)).toBe(0);
  expect(await store.evidence(keyOf("r1"))).toMatchObject([
    { kind: "dead-delivery", body: { attempts: 3, error: "canary is no good", delivery: toSink("crm", "canary") } },
  ]);
  expect(logs.map(({ message }) => message)).toContain("A delivery of run r1 is given up; its evidence says why");
  expect(JSON.stringify(logs)).not.toContain("canary");
});

test("D3 a SinkRefusal means never again: given up at once", async () => {
  const { store, clock, relay } = await bench();
  await cause(store, { run: "r1" }, toSink("crm", "a"), toSink("crm", "b"));
  const told: string[] = [];
  const crm: Sink = {
    deliver: (message) => {
      told.push((message as unknown as { said: string }).said);
      if (told.length === 1) throw new SinkRefusal("no such customer");
    },
  };
  relay({ crm });
  await clock.advance(hour);
  expect(told).toEqual(["a", "b"]);
  const evidence = await store.evidence(keyOf("r1"));
  expect(evidence.map(({ body }) => body)).toMatchObject([{ index: 0, attempts: 1, error: "no such customer" }]);
});

test("D1 a sink that is down for an hour loses nothing, and D5 holds up no other", async () => {
  const { store, clock, relay, logs } = await bench();
  const start = clock.now();
  const down = listener(clock, () => {
    if (clock.now() < start + hour) throw new Error("down");
  });
  const fine = listener(clock);
  relay({ down, hangs: { deliver: () => never, timeoutMs: 10_000 }, fine });
  for (let n = 1; n <= 50; n += 1) {
    await cause(store, { run: `r${n}` }, toSink("down", "x"), toSink("hangs", "x"), toSink("fine", "x"));
  }
  await clock.advance(pollMs * 5);
  expect(fine.told).toHaveLength(50);
  await clock.advance(hour + 300_000);
  for (let n = 1; n <= 50; n += 1) {
    const left = await store.deliveries(keyOf(`r${n}`));
    expect(left.map(({ delivery }) => delivery)).toEqual([toSink("hangs", "x")]);
    expect(await store.evidence(keyOf(`r${n}`))).toEqual([]);
  }
  expect(fine.told).toHaveLength(50);
  const messages = logs.map(({ message }) => message);
  expect(messages.filter((message) => message === "Sink down did not take a message; it is told again")).toHaveLength(
    1,
  );
  expect(messages).toContain("Sink down takes messages again");
});

test("N2 a sink that hangs is left after its time, its signal aborts, and it is told again", async () => {
  const { store, clock, relay } = await bench();
  const start = clock.now();
  await cause(store, { run: "r1" }, toSink("crm", "a"));
  const signals: AbortSignal[] = [];
  const crm = listener(clock, (attempt, signal) => {
    signals.push(signal);
    return attempt === 1 ? never : undefined;
  });
  relay({ crm: { deliver: crm.deliver, timeoutMs: 7_000 } });
  await clock.advance(6_999);
  expect(signals[0]?.aborted).toBe(false);
  await clock.advance(1);
  expect(signals[0]?.aborted).toBe(true);
  const [row] = await store.deliveries(keyOf("r1"));
  expect(row?.error).toBe("it did not answer within 7000 ms");
  await clock.advance(1_000);
  expect(crm.told.map(({ at, key }) => [at - start, key])).toEqual([
    [0, "a:r1:2:0"],
    [8_000, "a:r1:2:0"],
  ]);
  expect(await pending(store)).toBe(0);
  await clock.advance(hour);
  expect(signals[1]?.aborted).toBe(false);
});

test("N1 a slow sink is told by one process at a time, however long it takes within its time", async () => {
  const { store, clock, relay } = await bench();
  await cause(store, { run: "r1" }, toSink("crm", "a"));
  const crm = listener(clock, () => clock.sleep(60_000));
  for (let n = 0; n < 3; n += 1) relay({ crm: { deliver: crm.deliver, timeoutMs: 60_001 } });
  await clock.advance(hour);
  expect(crm.told).toHaveLength(1);
  expect(await pending(store)).toBe(0);
});

test("D2 a process that dies between the sink's answer and its own last word: told again, with the same key", async () => {
  const { store, clock, relay } = await bench();
  await cause(store, { run: "r1" }, toSink("crm", "a"));
  const crm = listener(clock);
  const dead: Intercept = (call, proceed) => (call.method === "endDelivery" ? never : proceed());
  relay({ crm: { deliver: crm.deliver, timeoutMs: 1_000 } }, { intercept: dead });
  await clock.advance(1);
  relay({ crm: { deliver: crm.deliver, timeoutMs: 1_000 } });
  await clock.advance(1_000 + leaseMs - 2);
  expect(crm.told).toHaveLength(1);
  await clock.advance(pollMs);
  expect(crm.told.map(({ key, attempt }) => [key, attempt])).toEqual([
    ["a:r1:2:0", 1],
    ["a:r1:2:0", 2],
  ]);
  expect(await pending(store)).toBe(0);
});

test("N2 close lets an attempt end, but not for ever; what was cut off is told again by the next", async () => {
  const { store, clock, relay } = await bench();
  await cause(store, { run: "r1" }, toSink("quick", "a"), toSink("deaf", "b"));
  const quick = listener(clock, () => clock.sleep(closeGraceMs - 1));
  const signals: AbortSignal[] = [];
  const deaf = listener(clock, (_attempt, signal) => {
    signals.push(signal);
    return signals.length === 1 ? never : undefined;
  });
  const first = relay({ quick, deaf });
  await clock.advance(0);
  let isClosed = false;
  const closed = first.close().then(() => {
    isClosed = true;
  });
  await clock.advance(closeGraceMs - 1);
  expect([isClosed, signals[0]?.aborted]).toEqual([false, false]);
  await clock.advance(1);
  await closed;
  expect(signals[0]?.aborted).toBe(true);
  expect((await store.deliveries(keyOf("r1"))).map(({ delivery }) => delivery)).toEqual([toSink("deaf", "b")]);
  relay({ quick, deaf });
  await clock.advance(pollMs * 2);
  expect([quick.told.length, deaf.told.length]).toEqual([1, 2]);
  expect(await pending(store)).toBe(0);
});

test("a closed worker whose sinks are quiet does not wait for the grace", async () => {
  const { clock, relay } = await bench();
  const made = relay({ crm: listener(clock) });
  await clock.advance(0);
  await made.close();
});

test("D1 a worker that lacks a sink leaves its lane alone", async () => {
  const { store, clock, relay } = await bench();
  await cause(store, { run: "r1" }, toSink("crm", "a"));
  const other = listener(clock);
  relay({ other });
  await clock.advance(3 * hour);
  expect(other.told).toEqual([]);
  expect(await store.deliveries(keyOf("r1"))).toMatchObject([{ attempts: 0, delivery: toSink("crm", "a") }]);
  const crm = listener(clock);
  relay({ crm });
  await clock.advance(1);
  expect(crm.told).toHaveLength(1);
});

test("a sink that changes the message changes nothing of what the next attempt is told", async () => {
  const { store, clock, relay } = await bench();
  await cause(store, { run: "r1" }, toSink("crm", "a"));
  const said: unknown[] = [];
  relay({
    crm: {
      deliver: (message, { attempt }) => {
        said.push({ ...message });
        (message as unknown as { said: string }).said = "spoiled";
        if (attempt === 1) throw new Error("again");
      },
    },
  });
  await clock.advance(5_000);
  expect(said).toEqual([
    { type: "run-ended", said: "a" },
    { type: "run-ended", said: "a" },
  ]);
});

test('with scopes: "all" every scope has its turn, also after a hundred in which nothing moves', async () => {
  const { store, clock, relay } = await bench();
  const stuck = { ...toSink("crm", "stuck"), due: clock.now() + 9 * hour };
  for (let n = 100; n < 250; n += 1) await cause(store, { run: "r1", scope: `s${n}` as Scope }, stuck);
  await cause(store, { run: "r1", scope: "z" as Scope }, toSink("crm", "moves"));
  const crm = listener(clock);
  relay({ crm }, { scopes: "all" });
  await clock.advance(1);
  expect(crm.told.map(({ said, key }) => [said, key])).toEqual([["moves", "z:r1:2:0"]]);
});

test("two workers on one SQLite lane: each of 200 messages is told once", async () => {
  const { store, clock, relay } = await bench(sqlite(freshPath()));
  const crm = listener(clock, () => new Promise((resolve) => setImmediate(resolve)));
  for (let n = 1; n <= 20; n += 1) {
    await cause(store, { run: `r${n}` }, ...Array.from({ length: 10 }, (_, index) => toSink("crm", `${n}.${index}`)));
  }
  relay({ crm });
  relay({ crm });
  await expect.poll(() => crm.told.length, { timeout: 20_000 }).toBe(200);
  await clock.advance(hour);
  expect(new Set(crm.told.map(({ key }) => key)).size).toBe(200);
  expect(crm.told).toHaveLength(200);
});
