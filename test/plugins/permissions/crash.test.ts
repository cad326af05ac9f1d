/** Cut at every port call: the same is asked, remembered and done, and nothing of it twice. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, tool } from "../../../src/index.ts";
import { permissions } from "../../../src/plugins.ts";
import type { CrashScenario } from "../../../src/testing/crash-scenario.ts";
import { crashEverywhere, scripted } from "../../../src/testing.ts";

const order = (to: string): { calls: { tool: string; input: object }[] } => ({
  calls: [{ tool: "pay", input: { to } }],
});

const scenario: CrashScenario = {
  name: "remembered over crashes",
  agents: (world) => [
    agent({
      name: "clerk",
      instructions: "",
      model: scripted([order("ada"), order("bob"), order("eve"), "Done."]),
      plugins: [
        permissions({
          rules: [{ tool: 'pay(to = "eve")', behavior: "deny" }],
          remember: {},
        }),
      ],
      tools: [
        tool({
          name: "pay",
          description: "Pays",
          input: z.object({ to: z.string() }),
          effect: "idempotent",
          execute: async ({ to }, context) => {
            await world.actByKey("pay", context, { to });
            return to;
          },
        }),
      ],
    }),
  ],
  script: async ({ runtime, agents: [clerk] }) => {
    const run = await runtime.start(clerk as never, "Go.", { key: "start" });
    for (;;) {
      const idle = await run.idle();
      if (idle.status === "done") return;
      for (const ticket of idle.tickets) {
        if (ticket.kind === "quarantined") await ticket.release({ key: `go-on-${ticket.id}` });
        if (ticket.kind !== "approval") continue;
        if (!ticket.call.id.endsWith(".1.0")) throw new Error(`What was remembered was asked again: ${ticket.id}`);
        await ticket.approve({ key: `yes-${ticket.id}`, value: { remember: "run", what: "tool" } });
      }
    }
  },
};

/** Plays have times and run ids of their own; anything else that differs from the uncut play is a problem. */
function isMore(problem: string): boolean {
  const plain = problem.replaceAll(/"(since|until)":\d+/g, "a time").replaceAll(/id-\d+\./g, "the run.");
  const [is, shouldBe] = plain.split("\ninstead of\n");
  return shouldBe === undefined || !is?.endsWith(`:\n${shouldBe}`);
}

test("cut anywhere, it comes to the same: one question, two payments, one refusal", async () => {
  const report = await crashEverywhere(scenario, { ways: ["before", "after"] }); // a plugin that throws refuses the call: another story
  expect(report.failures.flatMap(({ problems }) => problems.filter(isMore))).toEqual([]);
  expect(report.uncut.runs).toMatchObject([{ outcome: "completed" }]);
  expect(report.uncut.effects).toHaveLength(2);
  expect(report.uncut.unknown).toEqual([]);
  expect(report.cuts).toBeGreaterThan(50);
});
