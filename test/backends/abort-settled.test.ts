/** L3 of the request that a task ends: it is settled before its run ends, also where nobody is left who could make it. */
import { expect, test } from "vitest";
import { agent } from "../../src/index.ts";
import { memory } from "../../src/stores/memory/memory.ts";
import { createFakeClock } from "../../src/testing/fake-clock.ts";
import { fakeRemote } from "../../src/testing/fake-remote.ts";
import { countingIds, startProcess, type TestProcess } from "../../src/testing/test-process.ts";
import { countingModel, says } from "../context/counting-model.ts";

const never = new Promise<never>(() => undefined);

/** Its aborts are asked for, and never answered. */
function deafAtAborts(asked: () => void): ReturnType<typeof fakeRemote> {
  const remote = fakeRemote([{ task: "t1", result: { status: { kind: "completed" } }, until: never }]);
  const abort = (): Promise<void> => {
    asked();
    return never;
  };
  return { ...remote, build: () => ({ ...remote.build(), abort }) };
}

async function attempts({ runtime }: TestProcess, run: string): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const event of runtime.runs.get(run).watch({ until: "idle" })) {
    if (event.type === "effect-intended") seen.push(`${event.kind} ${event.attempt}`);
    if (event.type === "effect-settled") seen.push(`settled ${event.attempt} ${event.result.kind}`);
  }
  return seen;
}

test("a process without the backend finds an abort of a lost one: it is closed, and then the run ends", async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const clock = createFakeClock();
  const around = { store: memory(), clock, ids: countingIds(), settings: { leaseMs: 30_000, pollMs: 1_000 } };
  const first = await startProcess({ ...around, agents: [agent({ name: "geo", backend: deafAtAborts(resolve) })] });
  const run = await first.runtime.start("geo", "hi");
  await first.quiet();
  await run.cancel({ reason: "enough" });
  await asked;
  first.kill();
  await clock.advance(30_001);
  const model = countingModel({ window: 1_000, answer: () => says("never asked") });
  const second = await startProcess({ ...around, agents: [agent({ name: "geo", model, instructions: "" })] }); // has no such backend
  await second.quiet();
  expect(await second.runtime.runs.get(run.id).result()).toMatchObject({ outcome: "cancelled" });
  expect(await attempts(second, run.id)).toEqual(["remote 1", "settled 1 aborted", "remote-abort 1", "settled 1 lost"]);
  await second.runtime.close();
});
