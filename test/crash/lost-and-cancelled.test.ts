/** A death, a pause and a cancel: the call is not made again, and nobody may say that it was never made. */
import { expect, test } from "vitest";
import { crashEverywhere } from "../../src/testing/crash-kit.ts";
import { acting, begin, calling, clerk, rests, scenario, underWay } from "./scenarios/pieces.ts";

const pausedAndCancelled = scenario({
  name: "paused and cancelled",
  agents: (world) => [
    clerk({
      answers: [calling("refund"), "Refunded."],
      tools: [acting(world, { name: "refund", effect: "idempotent", after: () => world.gate("paused") })],
    }),
  ],
  script: async (context) => {
    const run = await begin(context);
    await underWay(context);
    await run.pause({ by: "ana", key: "pause" });
    context.world.open("paused");
    await context.until(() => rests(context));
    await run.cancel({ by: "ana", key: "cancel" });
  },
});

test("a call whose attempt was lost is never said not to have run", async () => {
  const { failures } = await crashEverywhere(pausedAndCancelled, { ways: ["before", "after"] });
  const problems = failures.flatMap((failure) => failure.problems);
  expect(problems.filter((problem) => problem.includes("said not to have run"))).toEqual([]);
  // What differs is the result alone: uncut the call settled before the pause, after a death it was aborted.
  expect(problems.length).toBeGreaterThan(0);
  for (const problem of problems) expect(problem).toMatch(/^transcript:\n.*\n.*\ntool: refund ! aborted\ninstead of/);
});
