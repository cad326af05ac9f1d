/** Workers whose clocks are an hour off: leases, deadlines and timers go by the server's clock. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createRuntime } from "../../src/create-runtime.ts";
import { type Agent, agent } from "../../src/domain/agent.ts";
import { tool } from "../../src/domain/tool.ts";
import { nodeClock } from "../../src/platform/node-clock.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { scripted } from "../../src/providers/scripted.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { postgresWithProbe } from "../../src/stores/postgres/postgres.ts";
import { freshStore } from "./shared-server.ts";

const hour = 3_600_000;
const quiet = { warn: () => undefined, note: () => undefined };

function off(ms: number): Clock {
  return { ...nodeClock, now: () => nodeClock.now() + ms };
}

interface Place {
  readonly url: string;
  readonly schema: string;
}

interface Wrong {
  readonly runtime: Runtime;
  /** Statements that it has sent. */
  statements(): number;
}

async function runtimeOff({ url, schema }: Place, ms: number, ...agents: readonly Agent<never>[]): Promise<Wrong> {
  let statements = 0;
  const before = (): void => {
    statements += 1;
  };
  const store = postgresWithProbe({ url, schema }, { before });
  const runtime = await createRuntime({ agents, store, clock: off(ms), logger: quiet, leaseMs: 1_500, pollMs: 200 });
  onTestFinished(() => runtime.close());
  return { runtime, statements: () => statements };
}

/** An agent with one slow call, and how often it was made. */
function slowClerk(ms: number, wallTime?: number): { readonly clerk: Agent<never>; calls(): number } {
  let calls = 0;
  const slow = tool({
    name: "slow",
    description: "Takes its time",
    input: z.object({}),
    execute: async (_, { signal }) => {
      calls += 1;
      await nodeClock.sleep(ms, signal);
      return "done";
    },
  });
  const clerk = agent({
    name: "clerk",
    instructions: "Be slow.",
    tools: [slow],
    model: scripted([{ calls: [{ tool: "slow", input: {} }] }, "Done."]),
    ...(wallTime === undefined ? {} : { budget: { wallTime } }),
  });
  return { clerk: clerk as unknown as Agent<never>, calls: () => calls };
}

const skews = [
  { holder: hour, other: -hour },
  { holder: -hour, other: hour },
];

test.each(skews)(
  "a run is held by one of two workers, however wrong they are ($holder, $other ms)",
  async ({ holder, other }) => {
    const place = await freshStore();
    const { clerk, calls } = slowClerk(2_500);
    const first = await runtimeOff(place, holder, clerk);
    const run = await first.runtime.start(clerk, "go");
    while (calls() === 0) await delay(10);
    const second = await runtimeOff(place, other, clerk);
    const counted = second.statements();
    await delay(1_500);
    const perSecond = (second.statements() - counted) / 1.5;
    expect(await run.result()).toMatchObject({ outcome: "completed" });
    expect(calls()).toBe(1);
    expect(perSecond).toBeLessThan(30); // it looks five times a second, and is not lured into more
  },
);

test.each(skews)("a deadline is neither early nor late ($holder, $other ms)", async ({ holder, other }) => {
  const enough = slowClerk(300, 30_000);
  const short = slowClerk(20_000, 1_000);
  for (const [{ clerk }, outcome] of [
    [enough, "completed"],
    [short, "timed-out"],
  ] as const) {
    const place = await freshStore();
    await runtimeOff(place, holder, clerk);
    const desk = await runtimeOff(place, other);
    const run = await desk.runtime.start(clerk, "go");
    expect((await run.result()).outcome).toBe(outcome);
  }
});

test.each(skews)("a pause that the model asks for is as long as it asks ($holder ms)", async ({ holder }) => {
  const place = await freshStore();
  const pause = { error: "model-rate-limited", retryAfterMs: 2_500 } as const;
  const model = scripted([{ attempts: [pause, "Done."] }]);
  const clerk = agent({ name: "clerk", instructions: "Wait.", model }) as unknown as Agent<never>;
  const worker = await runtimeOff(place, holder, clerk);
  const run = await worker.runtime.start(clerk, "go");
  expect(await run.idle()).toMatchObject({ status: "waiting", tickets: [{ kind: "timer" }] });
  const counted = worker.statements();
  await delay(1_000);
  expect((await run.status()).status).toBe("waiting");
  expect(worker.statements() - counted).toBeLessThan(40);
  expect((await run.result()).outcome).toBe("completed");
});
