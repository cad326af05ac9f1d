/** A task beside its run, and a run that goes on as another agent: cut anywhere, each comes to the same. */
import { type Agent, agent, delegate } from "../../../src/index.ts";
import { scripted } from "../../../src/providers/scripted.ts";
import type { World } from "../../../src/testing/crash-world.ts";
import { acting, answerAll, begin, calling, key, scenario, type Written } from "./pieces.ts";

/** The task waits for a person, so the run has always said that it waits before the end of it comes. */
function clerk(world: World): Agent {
  const helper = agent({
    name: "helper",
    model: scripted([calling("refund"), "Refunded."]),
    instructions: "Refund.",
    tools: [acting(world, { name: "refund", effect: "idempotent", needsApproval: true })],
  });
  return agent({
    name: "clerk",
    model: scripted([{ calls: [{ tool: "helper", input: { task: "Refund it." } }] }, "I wait.", "Done."]),
    instructions: "Be brief.",
    delegates: [delegate(helper, { background: true })],
  });
}

/** Two agents, one run: each answers the steps that are its own. */
function desk(world: World): Agent {
  const payer = agent({
    name: "payer",
    model: scripted(["?", calling("refund"), { calls: [{ tool: "hand_back", input: {} }] }]),
    instructions: "Refund.",
    tools: [acting(world, { name: "refund", effect: "idempotent", needsApproval: true })],
  });
  return agent({
    name: "clerk",
    model: scripted([{ calls: [{ tool: "transfer_to_payer", input: {} }] }, "?", "?", "Done."]),
    instructions: "Be brief.",
    handoffs: [payer],
  });
}

const approving: NonNullable<Written["script"]> = async (context) => {
  const run = await begin(context);
  await answerAll(run, (ticket) => (ticket.kind === "approval" ? ticket.approve(key(ticket)) : undefined));
};

export const besides = [
  scenario({ name: "a background task", agents: (world) => [clerk(world)], script: approving }),
  scenario({ name: "handed over and back", agents: (world) => [desk(world)], script: approving }),
];
