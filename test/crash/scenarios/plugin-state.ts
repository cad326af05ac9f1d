/** Plugins and tools that write state in every phase that lets them: at once, later, and both; of runs and of threads. */
import { z } from "zod";
import { type Tool, type ToolContext, tool } from "../../../src/index.ts";
import type { CrashScenario } from "../../../src/testing/crash-scenario.ts";
import type { World } from "../../../src/testing/crash-world.ts";
import { acting, begin, calling, clerk, recalling, rests, scenario } from "./pieces.ts";
import {
  asking,
  inManner,
  type Manner,
  noted,
  noting,
  rounds,
  said,
  stepPhases,
  topic,
  trail,
  visits,
} from "./plugin-pieces.ts";

const order = z.object({ order: z.string() });

function inEveryPhase(name: string, manner: Manner): CrashScenario {
  return scenario({
    name,
    agents: (world) => [
      clerk({
        answers: [calling("refund"), recalling("Refunded.")],
        tools: [acting(world, { name: "refund", effect: "idempotent" })],
        plugins: [noting("keeper", manner, stepPhases)],
      }),
    ],
    settings: { limits: { snapshotEvery: 3 } },
  });
}

/** Its effect outside and what it writes of state: the second is kept with its result. */
function writing(world: World, name: string, write: (context: ToolContext, order: string) => void): Tool {
  return tool({
    name,
    description: name,
    input: order,
    effect: "idempotent",
    writes: [visits, trail, said, rounds, topic],
    execute: async (input, context) => {
      write(context, input.order);
      return world.actByKey(name, context, { done: input.order });
    },
  });
}

export const pluginState: readonly CrashScenario[] = [
  inEveryPhase("plugins write at once in every phase", "at once"),
  inEveryPhase("plugins write later in every phase", "later"),
  inEveryPhase("plugins write at once and later by turns", "by turns"),
  scenario({
    name: "two plugins write one exclusive key, one at once and one later",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), recalling("Refunded.")],
        tools: [acting(world, { name: "refund", effect: "idempotent" })],
        plugins: [
          noting("first", "later", ["before-run", "before-step", "after-tool"]),
          noting("second", "at once", ["before-step", "before-model", "after-tool", "before-end"]),
          noting("third", "later", ["before-step", "after-tool", "before-end"]),
        ],
      }),
    ],
  }),
  scenario({
    name: "tools write state beside plugins",
    agents: (world) => [
      clerk({
        answers: [calling("add", "mark", "mark"), recalling("All three.")],
        tools: [
          writing(world, "add", ({ state }, which) => {
            state.update(visits, 1);
            state.update(trail, [`add ${which}`]);
          }),
          writing(world, "mark", ({ state }) => state.set(said, `${state.get(said)}m`)),
        ],
        plugins: [noting("keeper", "by turns", ["before-tool", "after-tool"])],
      }),
    ],
  }),
  scenario({
    name: "two runs share the state of their thread",
    agents: (world) => [
      clerk({
        answers: [calling("add"), recalling("Added.")],
        tools: [
          writing(world, "add", ({ state }) => {
            state.update(rounds, 10);
            state.set(topic, `${state.get(topic)}t`);
          }),
        ],
        plugins: [
          asking("keeper", {
            "before-step": ({ state }) => [rounds.update(1), topic.set(`${state.get(topic)}s`), visits.update(1)],
            "after-step": async ({ state }) => [rounds.update(1), topic.set(`${state.get(topic)}e`)],
          }),
        ],
      }),
    ],
    script: async (context) => {
      await begin(context, "first");
      await begin(context, "second");
    },
  }),
  scenario({
    name: "cancelled while waiting, and plugins tidy up",
    agents: (world) => [
      clerk({
        answers: [calling("refund")],
        tools: [acting(world, { name: "refund", effect: "idempotent", needsApproval: true })],
        plugins: [
          noting("keeper", "at once", ["before-run", "on-cancel"]),
          asking("tidy", {
            "on-cancel": inManner("later", (view) => [...noted(view), said.set("gone"), topic.set("none")], 0),
          }),
        ],
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      await context.until(() => rests(context));
      await run.cancel({ by: "ana", key: "cancel" });
    },
  }),
];
