/** Runs that end otherwise: cancelled, out of time, failed; and a model that fails before it answers. */
import type { CrashScenario } from "../../../src/testing/crash-scenario.ts";
import { acting, answerAll, begin, calling, clerk, key, recalling, rests, scenario, underWay } from "./pieces.ts";

/** The tool has acted and then waits until it is told to stop. */
function cancelledInFlight(name: string, effect: "idempotent" | "once"): CrashScenario {
  return scenario({
    name,
    agents: (world) => [
      clerk({
        answers: [calling("charge"), "Charged."],
        tools: [acting(world, { name: "charge", effect, after: ({ signal }) => world.hang(signal) })],
      }),
    ],
    // Nobody else answers: a cut that makes the outcome unknown is cancelled all the same.
    unknownsAnsweredByScript: 100,
    script: async (context) => {
      const run = await begin(context);
      await underWay(context);
      await run.cancel({ by: "ana", key: "cancel", reason: "Enough" });
    },
  });
}

const fiveMinutes = 300_000;

export const ended = [
  cancelledInFlight("cancelled while a tool is in flight, idempotent", "idempotent"),
  cancelledInFlight("cancelled while a tool is in flight, once", "once"),
  scenario({
    name: "cancelled while waiting",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), "Refunded."],
        tools: [acting(world, { name: "refund", effect: "idempotent", needsApproval: true })],
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      await context.until(() => rests(context));
      await run.cancel({ by: "ana", key: "cancel" });
    },
  }),
  scenario({
    name: "cancelled while paused",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), "Refunded."],
        tools: [acting(world, { name: "refund", effect: "idempotent", needsApproval: true })],
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      await context.until(() => rests(context));
      await run.pause({ by: "ana", key: "pause" });
      await answerAll(run, (ticket) => (ticket.kind === "pause" ? ticket.cancelRun(key(ticket)) : undefined));
    },
  }),
  scenario({
    name: "model error and retry",
    agents: (world) => [
      clerk({
        answers: [
          {
            attempts: [
              { error: "model-overloaded" },
              { error: "model-rate-limited", retryAfterMs: 20_000 },
              calling("refund"),
            ],
          },
          { attempts: [{ parts: [{ type: "text-delta", text: "Ref" }] }, recalling("Refunded.")] },
        ],
        tools: [acting(world, { name: "refund", effect: "idempotent" })],
      }),
    ],
  }),
  scenario({
    name: "model refuses",
    agents: () => [clerk({ answers: [{ error: "model-refused" }] })],
  }),
  scenario({
    name: "deadline while waiting",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), "Refunded."],
        tools: [acting(world, { name: "refund", effect: "idempotent", needsApproval: true })],
        wallTime: fiveMinutes,
      }),
    ],
  }),
  scenario({
    name: "deadline while a tool is in flight",
    agents: (world) => [
      clerk({
        answers: [calling("charge"), "Charged."],
        tools: [
          acting(world, {
            name: "charge",
            effect: "idempotent",
            timeoutMs: 2 * fiveMinutes,
            after: ({ signal }) => world.hang(signal),
          }),
        ],
        wallTime: fiveMinutes,
      }),
    ],
  }),
];
