/** Runs that give work to others: a call has one child and one result, whatever is cut on either side of it. */
import { agent, delegate } from "../../../src/index.ts";
import { scripted } from "../../../src/providers/scripted.ts";
import type { World } from "../../../src/testing/crash-world.ts";
import { acting, answerAll, begin, calling, key, scenario } from "./pieces.ts";

const task = (...names: readonly string[]) => ({
  calls: names.map((name) => ({ tool: name, input: { task: "Do it." } })),
});

function helper(world: World, needsApproval = false) {
  return agent({
    name: "helper",
    model: scripted([calling("refund"), "Helped."]),
    instructions: "Help.",
    tools: [acting(world, { name: "refund", effect: "idempotent", ...(needsApproval ? { needsApproval } : {}) })],
  });
}

function above(child: ReturnType<typeof helper>, name: string, ...calls: readonly string[]) {
  const model = scripted([task(...(calls.length > 0 ? calls : [child.name])), "Done."]);
  return agent({ name, model, instructions: "Delegate.", delegates: [delegate(child)] });
}

/** Nothing of it is left to name an effect by. */
const speaker = agent({ name: "helper", model: scripted(["Helped."]), instructions: "Help." });

export const delegations = [
  scenario({ name: "a delegate", agents: (world) => [above(helper(world), "clerk")] }),
  scenario({ name: "two delegates at once", agents: (world) => [above(helper(world), "clerk", "helper", "helper")] }),
  scenario({
    name: "a delegate of a delegate asks",
    agents: (world) => [above(above(helper(world, true), "middle"), "clerk")],
    script: async (context) => {
      const run = await begin(context);
      await answerAll(run, (ticket) => (ticket.kind === "approval" ? ticket.approve(key(ticket)) : undefined));
    },
  }),
  scenario({
    name: "three levels are cancelled",
    settings: { limits: { graceMs: 120_000 } }, // whoever died with its lease is up again within it
    agents: (world) => [above(above(helper(world, true), "middle"), "clerk")],
    script: async (context) => {
      const run = await begin(context);
      await run.idle();
      await run.cancel({ by: "ana", key: "cancel", reason: "Not needed." });
    },
  }),
  scenario({
    name: "an ephemeral delegate",
    agents: () => [
      agent({
        name: "clerk",
        model: scripted([task("helper"), "Done."]),
        instructions: "Delegate.",
        delegates: [delegate(speaker, { ephemeral: true })],
      }),
    ],
  }),
];
