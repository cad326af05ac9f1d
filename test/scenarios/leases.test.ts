import { expect, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, memory, tool } from "../../src/index.ts";
import { nodeClock } from "../../src/platform/node-clock.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { silentLogger } from "../../src/testing/test-process.ts";

const nothing = z.object({});
const pause = (ms: number): Promise<void> => nodeClock.sleep(ms);

interface Gated {
  readonly began: Promise<void>;
  readonly finish: () => void;
  readonly aborts: () => number;
  readonly begun: () => number;
  readonly clerk: ReturnType<typeof agent>;
}

/** An agent that calls one careful tool again and again; the first call waits for us. */
function gated(steps: number): Gated {
  let aborts = 0;
  let begun = 0;
  const began = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<string>();
  const pay = tool({
    name: "pay",
    description: "Pay",
    input: nothing,
    execute: (_input, { signal }) => {
      begun += 1;
      began.resolve();
      signal.addEventListener("abort", () => {
        aborts += 1;
      });
      return begun === 1 ? gate.promise : "paid";
    },
  });
  const calls = Array.from({ length: steps }, () => ({ calls: [{ tool: "pay" }] }));
  const clerk = agent({ name: "clerk", model: scripted([...calls, "ok"]), instructions: "-", tools: [pay] });
  return { began: began.promise, finish: () => gate.resolve("paid"), aborts: () => aborts, begun: () => begun, clerk };
}

test("P4 a clock that jumps past the lease does not make a process take its own run from itself", async () => {
  let offset = 0;
  const clock = { ...nodeClock, now: () => Date.now() + offset };
  const { began, finish, aborts, clerk } = gated(1);
  await using runtime = await createRuntime({ agents: [clerk], clock, logger: silentLogger, pollMs: 20 });
  const run = await runtime.start(clerk, "go");
  await began;
  offset = 60_000;
  await pause(100);
  finish();
  expect(await run.result()).toMatchObject({ outcome: "completed" });
  expect(aborts()).toBe(0);
  expect(await runtime.tickets.list()).toEqual([]);
});

test("P5 a process that closes begins nothing new, and the next one goes on at once", async () => {
  const store = memory();
  const { began, finish, begun, clerk } = gated(3);
  const first = await createRuntime({ agents: [clerk], store, logger: silentLogger });
  const { id } = await first.start(clerk, "go");
  await began;
  const closing = first.close();
  finish();
  await closing;
  expect(begun()).toBe(1);
  await using second = await createRuntime({ agents: [clerk], store, logger: silentLogger });
  expect(await second.runs.get(id).result()).toMatchObject({ outcome: "completed" });
  expect(begun()).toBe(3);
  expect(await second.tickets.list()).toEqual([]);
});

test("P2 a lease is renewed while a process that closes waits for what is in flight", async () => {
  const store = memory();
  const { began, finish, begun, clerk } = gated(1);
  const settings = { agents: [clerk], store, logger: silentLogger, leaseMs: 200, pollMs: 10, closeGraceMs: 5_000 };
  const first = await createRuntime(settings);
  const { id } = await first.start(clerk, "go");
  await began;
  await using second = await createRuntime(settings);
  const closing = first.close();
  await pause(600);
  expect(begun()).toBe(1); // the other process did not take it over
  finish();
  await closing;
  expect(await second.runs.get(id).result()).toMatchObject({ outcome: "completed" });
  expect(begun()).toBe(1);
});
