/** A reader of pages: so many tool steps on a thread, with a model that counts. */
import { z } from "zod";
import type { Agent } from "../../src/domain/agent.ts";
import type { ContextProjected } from "../../src/domain/entry.ts";
import type { HistoryOptions } from "../../src/domain/history.ts";
import type { RunId } from "../../src/domain/ids.ts";
import { agent, tool } from "../../src/index.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { type CountingModel, callsTool, countingModel, type Says, says } from "./counting-model.ts";

export const read = tool({
  name: "read",
  description: "Reads a page",
  input: z.object({ page: z.number(), words: z.number().optional() }),
  effect: "pure",
  execute: ({ page, words = 20 }) => `Page ${page}: ${"lorem\n".repeat(words)}`,
});

export interface Reading {
  readonly pages: number;
  readonly window?: number;
  /** Words on a page; 20 unless said. */
  readonly words?: (page: number) => number;
  readonly history?: HistoryOptions;
  readonly summary?: Says["summary"];
  /** Its summariser does not stop when it is told to. */
  readonly deaf?: boolean;
  readonly budget?: object;
  readonly prices?: { readonly inputPerMillion: number; readonly outputPerMillion: number };
}

export interface Reader {
  readonly one: Agent;
  readonly model: CountingModel;
}

export function reader({ pages, window = 4_000, words, history, summary, deaf, budget, prices }: Reading): Reader {
  const counting = countingModel({
    window,
    answer: ({ step }) =>
      step < pages
        ? callsTool("read", { page: step, ...(words ? { words: words(step) } : {}) })
        : says(`Read ${step} pages.`),
    ...(summary ? { summary } : {}),
    ...(deaf ? { deaf } : {}),
  });
  const model = prices ? { ...counting, description: { ...counting.description, prices } } : counting;
  const one = agent({
    name: "reader",
    model,
    instructions: "Read.",
    tools: [read],
    budget: { steps: 1_000, ...budget },
    ...(history ? { history } : {}),
  });
  return { one, model };
}

export async function projectedIn(runtime: Runtime, run: string): Promise<readonly ContextProjected[]> {
  const found: ContextProjected[] = [];
  for await (const event of runtime.runs.get(run as RunId).watch()) {
    if (event.type === "context-projected") found.push(event);
  }
  return found;
}
