/** Messages for a thread whose run is not done: queued, steered, answering, superseding, interrupting. */
import type { Agent } from "../../../src/index.ts";
import type { Run, StartOptions } from "../../../src/runtime/runtime.ts";
import type { ScriptContext } from "../../../src/testing/crash-scenario.ts";
import { acting, asking, begin, calling, clerk, recalling, rests, scenario, underWay } from "./pieces.ts";

/** Another message for the thread of the first run. */
function next({ runtime, agents }: ScriptContext, options: StartOptions): Promise<Run<unknown>> {
  return runtime.start(agents[0] as Agent<unknown>, "And this.", { key: "next", thread: "t", by: "ana", ...options });
}

/** The first run of the thread calls a tool; every other one only says what it was shown. */
function firstCalls(tool: string): Parameters<typeof clerk>[0]["answers"] {
  return [({ messages }) => (messages.length === 1 ? calling(tool) : recalling("Mine.")), recalling("Done.")];
}

export const busyThreads = [
  scenario({
    name: "queued while a tool is in flight",
    agents: (world) => [
      clerk({
        answers: firstCalls("refund"),
        tools: [acting(world, { name: "refund", effect: "idempotent", after: () => world.gate("queued") })],
      }),
    ],
    script: async (context) => {
      await begin(context);
      await underWay(context);
      await next(context, { whenBusy: "queue" });
      context.world.open("queued");
    },
  }),
  scenario({
    name: "steered while a tool is in flight",
    agents: (world) => [
      clerk({
        answers: firstCalls("refund"),
        tools: [acting(world, { name: "refund", effect: "idempotent", after: () => world.gate("steered") })],
      }),
    ],
    script: async (context) => {
      await begin(context);
      await underWay(context);
      await next(context, { whenBusy: "steer" });
      context.world.open("steered");
    },
  }),
  scenario({
    name: "steered while waiting",
    agents: (world) => [
      clerk({
        answers: firstCalls("refund"),
        tools: [acting(world, { name: "refund", effect: "idempotent", needsApproval: true })],
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      await context.until(() => rests(context));
      await next(context, { whenBusy: "steer" });
      const [ticket] = await context.runtime.tickets.list({ run: run.id, kind: "approval" });
      await ticket?.approve({ by: "ana", key: "approve" });
    },
  }),
  scenario({
    name: "a question answered by the next message",
    agents: () => [clerk({ answers: firstCalls("pick"), tools: [asking("pick")] })],
    script: async (context) => {
      await begin(context);
      await context.until(() => rests(context));
      await next(context, {});
    },
  }),
  scenario({
    name: "superseded while waiting",
    agents: (world) => [
      clerk({
        answers: firstCalls("refund"),
        tools: [acting(world, { name: "refund", effect: "idempotent", needsApproval: true })],
      }),
    ],
    script: async (context) => {
      await begin(context);
      await context.until(() => rests(context));
      await next(context, { whenBusy: "supersede" });
    },
  }),
  scenario({
    name: "interrupted while a tool is in flight",
    agents: (world) => [
      clerk({
        answers: firstCalls("refund"),
        tools: [acting(world, { name: "refund", effect: "idempotent", after: ({ signal }) => world.hang(signal) })],
      }),
    ],
    script: async (context) => {
      await begin(context);
      await underWay(context);
      await next(context, { whenBusy: "interrupt" });
    },
  }),
];
