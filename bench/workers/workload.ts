/** What the workers are given to do: an agent whose model answers from a script, with a tool that only answers. */
import { type Agent, agent, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

export interface Workload {
  readonly says: string;
  /** Stands for the time that a real model takes; none: the script answers at once. */
  readonly modelMs?: number;
  /** Runs that one worker has in hand at once. */
  readonly concurrency: number;
}

export const workloads = {
  cpu: { says: "the model answers at once: what the store and the processors allow", concurrency: 16 },
  waiting: { says: "the model takes 20 ms, four runs in hand: what workers add", modelMs: 20, concurrency: 4 },
} as const satisfies Record<string, Workload>;

export type WorkloadName = keyof typeof workloads;

const look = tool({
  name: "look",
  description: "Looks at a place",
  input: z.object({ place: z.number() }),
  effect: "pure",
  execute: ({ place }) => `Nothing at ${place}.`,
});

/** A run of K steps: K - 1 tool calls, each with a model call before it, and a last answer. */
export function createAgent(name: WorkloadName, steps: number): Agent {
  const { modelMs }: Workload = workloads[name];
  const delay = modelMs === undefined ? {} : { delayMs: modelMs };
  const calls = Array.from({ length: steps - 1 }, (_, place) => ({
    calls: [{ tool: "look", input: { place } }],
    ...delay,
  }));
  const model = scripted([...calls, { text: "Done.", ...delay }]);
  return agent({ name, model, instructions: "Look everywhere.", tools: [look] });
}
