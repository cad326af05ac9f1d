/** Runs whose end is told to sinks: each sink is told everything once by key, whatever is cut, and loses nothing. */
import { z } from "zod";
import type { CallId } from "../../../src/domain/ids.ts";
import { agent, type Sink, SinkRefusal } from "../../../src/index.ts";
import { scripted } from "../../../src/providers/scripted.ts";
import type { World } from "../../../src/testing/crash-world.ts";
import { acting, answerAll, begin, calling, key, scenario } from "./pieces.ts";

/** A receiver that remembers keys. */
export function receiver(world: World, name: string): Sink {
  return {
    deliver: async (message, { key: idempotencyKey }) => {
      const what = message.type === "output" ? { output: message.output } : { ended: message.outcome.kind };
      const caller = { runId: message.run, callId: `${message.run}.end` as CallId, idempotencyKey };
      await world.actByKey(name, caller, what);
    },
  };
}

/** Knows the customer only when somebody has mended it. */
function mendable(world: World): Sink {
  const crm = receiver(world, "crm");
  return {
    deliver: (message, context) => {
      if (world.effects("mend").length === 0) throw new SinkRefusal("no such customer");
      return crm.deliver(message, context);
    },
  };
}

const sinks = (world: World): Readonly<Record<string, Sink>> => ({
  crm: receiver(world, "crm"),
  log: receiver(world, "log"),
});

export const sinkScenarios = [
  scenario({
    name: "a dead letter is told again",
    agents: () => [agent({ name: "clerk", model: scripted(["Done."]), instructions: "Be brief.", sinks: ["crm"] })],
    sinks: (world) => ({ crm: mendable(world) }),
    script: async (context) => {
      const run = await begin(context);
      await context.until(async () => (await context.evidence(run.id)).length > 0);
      const mender = { runId: run.id, callId: `${run.id}.mend` as CallId, idempotencyKey: "mend" };
      await context.world.actByKey("mend", mender, null);
      await run.retell({ by: "ana" });
    },
  }),
  scenario({
    name: "two sinks are told",
    agents: () => [
      agent({
        name: "clerk",
        model: scripted(['{"resolved":true}']),
        instructions: "Be brief.",
        output: z.object({ resolved: z.boolean() }),
        sinks: ["crm", "log"],
      }),
    ],
    sinks,
  }),
  scenario({
    name: "a sink is told of a cancel",
    agents: (world) => [
      agent({
        name: "clerk",
        model: scripted([calling("refund"), "Never said."]),
        instructions: "Be brief.",
        tools: [acting(world, { name: "refund", effect: "idempotent", needsApproval: true })],
        sinks: ["crm"],
      }),
    ],
    sinks,
    script: async (context) => {
      const run = await begin(context);
      await answerAll(run, (ticket) => (ticket.kind === "quarantined" ? ticket.release(key(ticket)) : undefined));
      await run.cancel({ by: "ana", key: "cancel", reason: "Not needed." });
    },
  }),
];
