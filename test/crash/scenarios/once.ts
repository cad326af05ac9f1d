/** Effects that must not happen twice, and those of which nobody can tell whether they happened. */
import type { Ticket } from "../../../src/runtime/runtime.ts";
import type { CrashScenario } from "../../../src/testing/crash-scenario.ts";
import { acting, answerAll, begin, calling, clerk, key, recalling, scenario } from "./pieces.ts";

type Acting = Parameters<typeof acting>[1];

function charging(
  name: string,
  how: Omit<Acting, "name" | "effect"> & { readonly effect?: Acting["effect"] } = {},
): CrashScenario {
  return scenario({
    name,
    agents: (world) => [
      clerk({
        answers: [calling("charge"), recalling("Charged.")],
        tools: [acting(world, { effect: "once", ...how, name: "charge" })],
      }),
    ],
  });
}

const broken = async (): Promise<never> => {
  throw new Error("The line went dead");
};

/** The line breaks after the effect, unless an operator said to run it again. */
function resolved(
  name: string,
  decide: (ticket: Extract<Ticket, { kind: "unknown-outcome" }>) => Promise<unknown>,
): CrashScenario {
  return scenario({
    name,
    unknownsAnsweredByScript: 1,
    agents: (world) => [
      clerk({
        answers: [calling("charge"), recalling("Settled.")],
        tools: [
          acting(world, {
            name: "charge",
            effect: "once",
            after: async ({ decision }) => {
              if (decision?.decision.kind !== "run-again") await broken();
            },
          }),
        ],
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      await answerAll(run, (ticket) => (isFirstUnknown(ticket) ? decide(ticket) : undefined));
    },
  });
}

function isFirstUnknown(ticket: Ticket): ticket is Extract<Ticket, { kind: "unknown-outcome" }> {
  return ticket.kind === "unknown-outcome" && ticket.id.endsWith(".1");
}

export const once = [
  charging("once"),
  charging("once with reconcile", { reconciles: true }),
  // Asked too early, the world says "not done" of what is still on its way.
  charging("takes effect late, once with reconcile", { reconciles: true, slowMs: 50_000 }),
  charging("throws after its effect, once", { after: broken }),
  charging("throws after its effect, once with reconcile", { after: broken, reconciles: true }),
  charging("throws after its effect, idempotent", { after: broken, effect: "idempotent" }),
  charging("times out after its effect, once", { after: (_context, world) => world.hang() }),
  charging("times out after its effect, once with reconcile", {
    after: (_context, world) => world.hang(),
    reconciles: true,
  }),
  charging("times out after its effect, idempotent", {
    after: (_context, world) => world.hang(),
    effect: "idempotent",
  }),
  resolved("unknown outcome marked done", (ticket) => ticket.markDone({ done: "by hand" }, key(ticket))),
  resolved("unknown outcome marked failed", (ticket) => ticket.markFailed("It never arrived", key(ticket))),
  resolved("unknown outcome run again", (ticket) => ticket.runAgain(key(ticket))),
  resolved("unknown outcome cancels the run", (ticket) => ticket.cancelRun(key(ticket))),
];
