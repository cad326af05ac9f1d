/** Messages that a run has not read when it ends: its successor reads them; a cancelled run has none. */
import type { Agent } from "../../../src/index.ts";
import type { Run } from "../../../src/runtime/runtime.ts";
import type { CrashScenario, ScriptContext } from "../../../src/testing/crash-scenario.ts";
import { acting, begin, calling, clerk, recalling, rests, scenario, underWay } from "./pieces.ts";

const fiveMinutes = 300_000;

function steer({ runtime, agents }: ScriptContext, key: string, text: string): Promise<Run<unknown>> {
  return runtime.start(agents[0] as Agent<unknown>, text, { key, thread: "t", by: "ana", whenBusy: "steer" });
}

/** The tool threw and the run was over: the message has a run of its own, which must not meet the one after it. */
async function ifTooLate(run: Run<unknown>, next: Run<unknown>): Promise<void> {
  if (next.id !== run.id) await next.result();
}

/** Calls a tool where it is all there is to say, and else says what it was shown. */
const callsFirst: Parameters<typeof clerk>[0]["answers"] = [
  ({ messages }) => (messages.length === 1 ? calling("refund") : recalling("Mine.")),
  recalling("Done."),
];

export const successors: readonly CrashScenario[] = [
  scenario({
    name: "steps spent with an unread input",
    agents: (world) => [
      clerk({
        answers: callsFirst,
        tools: [acting(world, { name: "refund", effect: "idempotent", after: () => world.gate("steered") })],
        steps: 1,
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      await underWay(context);
      await ifTooLate(run, await steer(context, "next", "And this."));
      await steer(context, "more", "And that.");
      context.world.open("steered");
    },
  }),
  scenario({
    name: "out of time with an unread input",
    agents: (world) => [
      clerk({
        answers: callsFirst,
        tools: [acting(world, { name: "refund", effect: "idempotent", needsApproval: true })],
        wallTime: fiveMinutes,
      }),
    ],
    script: async (context) => {
      await begin(context);
      await context.until(() => rests(context));
      await steer(context, "next", "And this.");
    },
  }),
  scenario({
    name: "cancelled with an unread input, and steered after that",
    agents: (world) => [
      clerk({
        answers: callsFirst,
        tools: [acting(world, { name: "refund", effect: "idempotent", after: () => world.hang() })],
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      await underWay(context);
      const next = await steer(context, "next", "And this.");
      await run.cancel({ by: "ana", key: "cancel" });
      await ifTooLate(run, next);
      await steer(context, "late", "And that.");
    },
  }),
];
