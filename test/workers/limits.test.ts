/** Limits of a worker hold together: in all, per agent and per scope. */
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, createWorker, memory, tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";

const quiet = { warn: () => undefined, note: () => undefined };

test("R1 a limit per scope holds beside limits per agent", async () => {
  let now = 0;
  let most = 0;
  const act = tool({
    name: "act",
    description: "Acts",
    input: z.object({}),
    effect: "pure",
    execute: async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 20));
      now -= 1;
    },
  });
  const model = scripted([{ calls: [{ tool: "act", input: {} }] }, "Done."]);
  const agents = ["a", "b", "c"].map((name) => agent({ name, instructions: "", tools: [act], model }));
  const store = memory();
  const desk = await createRuntime({ store, logger: quiet });
  onTestFinished(() => desk.close());
  const runs = await Promise.all([...agents, ...agents].map((each) => desk.start(each, "go")));
  const limits = { concurrencyPerAgent: { a: 2, b: 2, c: 2 }, concurrencyPerScope: 2 };
  const worker = await createWorker({ store, agents, ...limits, pollMs: 10, logger: quiet });
  onTestFinished(() => worker.close());
  expect(await Promise.all(runs.map((run) => run.output()))).toEqual(runs.map(() => "Done."));
  expect(most).toBe(2);
});
