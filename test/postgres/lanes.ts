/** Runs that write and write: one thread per lane, so that as many runs as there are lanes are written to at once. */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type Agent, agent } from "../../src/domain/agent.ts";
import { tool } from "../../src/domain/tool.ts";
import { scripted } from "../../src/providers/scripted.ts";

/** Entries of a run are at least this many per step. */
export const entriesPerStep = 8;

const act = tool({
  name: "act",
  description: "Acts",
  input: z.object({ step: z.number() }),
  effect: "pure",
  execute: async ({ step }) => {
    await delay(50 + Math.random() * 50); // readers read while it is written, not afterwards
    return `step ${step} done`;
  },
});

export function laneClerk(steps: number): Agent<string> {
  const answers = Array.from({ length: steps }, (_, step) => ({ calls: [{ tool: "act", input: { step } }] }));
  return agent({
    name: "clerk",
    instructions: "Act.",
    tools: [act],
    model: scripted([...answers, "Done."]),
    budget: { steps: steps + 1 },
  });
}

export const quiet = { warn: () => undefined, note: () => undefined };
