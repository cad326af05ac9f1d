/** Runs that wait for a person: approvals, edits, answers, a pause, a message from outside. */
import type { InputId, MessageId } from "../../../src/domain/ids.ts";
import type { Ticket } from "../../../src/runtime/runtime.ts";
import { acting, answerAll, asking, begin, calling, clerk, key, recalling, scenario, underWay } from "./pieces.ts";

function mixed(ticket: Ticket): Promise<unknown> | undefined {
  if (ticket.kind !== "approval") return undefined;
  switch (ticket.tool) {
    case "refund":
      return ticket.approve(key(ticket));
    case "charge":
      return ticket.reject("Not today", key(ticket));
    default:
      return ticket.answer({ done: "by hand" }, key(ticket));
  }
}

export const decided = [
  scenario({
    name: "waiting and approved",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), recalling("Refunded.")],
        tools: [acting(world, { name: "refund", effect: "idempotent", needsApproval: true })],
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      await answerAll(run, (ticket) => (ticket.kind === "approval" ? ticket.approve(key(ticket)) : undefined));
    },
    settings: { limits: { snapshotEvery: 2 } },
  }),
  scenario({
    name: "edited input",
    agents: (world) => [
      clerk({
        answers: [calling("charge"), recalling("Charged.")],
        tools: [acting(world, { name: "charge", effect: "once", needsApproval: true })],
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      await answerAll(run, (ticket) =>
        ticket.kind === "approval" ? ticket.edit({ order: "edited" }, key(ticket)) : undefined,
      );
    },
  }),
  scenario({
    name: "mixed batch",
    agents: (world) => [
      clerk({
        answers: [calling("refund", "charge", "mail"), recalling("Three answers.")],
        tools: [
          acting(world, { name: "refund", effect: "idempotent", needsApproval: true }),
          acting(world, { name: "charge", effect: "once", needsApproval: true }),
          acting(world, { name: "mail", effect: "once", needsApproval: true }),
        ],
      }),
    ],
    script: async (context) => {
      await answerAll(await begin(context), mixed);
    },
  }),
  scenario({
    name: "frontend tool answered",
    agents: () => [clerk({ answers: [calling("pick"), recalling("Picked.")], tools: [asking("pick")] })],
    script: async (context) => {
      const run = await begin(context);
      await answerAll(run, (ticket) =>
        ticket.kind === "input" ? ticket.answer({ picked: "blue" }, key(ticket)) : undefined,
      );
    },
  }),
  scenario({
    name: "decision passed to the tool",
    agents: (world) => [
      clerk({
        answers: [calling("sign"), recalling("Signed.")],
        tools: [
          acting(world, {
            name: "sign",
            effect: "idempotent",
            passDecision: true,
            after: async ({ decision }) => ({ by: decision?.by, decision: decision?.decision }),
          }),
        ],
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      await answerAll(run, (ticket) =>
        ticket.kind === "input" ? ticket.answer("A. Lovelace", key(ticket)) : undefined,
      );
    },
  }),
  scenario({
    name: "pause and release",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), recalling("Refunded.")],
        tools: [acting(world, { name: "refund", effect: "idempotent", after: () => world.gate("paused") })],
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      await underWay(context);
      await run.pause({ by: "ana", key: "pause" });
      context.world.open("paused");
      await answerAll(run, (ticket) => (ticket.kind === "pause" ? ticket.release(key(ticket)) : undefined));
    },
  }),
  scenario({
    name: "input while running",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), recalling("Both.")],
        tools: [acting(world, { name: "refund", effect: "idempotent", after: () => world.gate("told") })],
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      await underWay(context);
      const message = {
        id: "more" as MessageId,
        role: "user" as const,
        parts: [{ type: "text" as const, text: "And one more." }],
        visibility: "all" as const,
      };
      const fact = { type: "input-received" as const, input: "more" as InputId, message, by: "ana" };
      await context.post({ run: run.id, key: "more", fact });
      context.world.open("told");
    },
  }),
];
