/** The same work under every kind of trouble: runs of tool steps, each tool call with an effect in a counted world. */
import { expect } from "vitest";
import { z } from "zod";
import { createRuntime } from "../../src/create-runtime.ts";
import { agent } from "../../src/domain/agent.ts";
import { tool } from "../../src/domain/tool.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";

export interface Work {
  readonly store: StoreDefinition;
  readonly runs: number;
  readonly steps: number;
  /** Called while the work goes on. */
  readonly meanwhile?: (isDone: () => boolean) => Promise<void>;
}

/** 0 lost, 0 duplicated, no run failed. */
export async function workThrough({ store, runs, steps, meanwhile }: Work): Promise<void> {
  const effects = new Map<string, number>();
  const act = tool({
    name: "act",
    description: "Acts on the world",
    input: z.object({ step: z.number() }),
    effect: "once",
    execute: ({ step }, { idempotencyKey }) => {
      effects.set(idempotencyKey, (effects.get(idempotencyKey) ?? 0) + 1);
      return `step ${step} done`;
    },
  });
  const answers = Array.from({ length: steps }, (_, step) => ({ calls: [{ tool: "act", input: { step } }] }));
  const clerk = agent({
    name: "clerk",
    instructions: "Act.",
    tools: [act],
    model: scripted([...answers, "Done."]),
    budget: { steps: steps + 1 },
  });
  const quiet = { warn: () => undefined, note: () => undefined };
  const runtime = await createRuntime({ agents: [clerk], store, logger: quiet, leaseMs: 10_000, pollMs: 200 });
  let isDone = false;
  const trouble = meanwhile?.(() => isDone) ?? Promise.resolve();
  try {
    const started = await Promise.all(
      Array.from({ length: runs }, (_, n) =>
        runtime.start(clerk, `order ${n}`, { key: `start-${n}`, thread: `thread-${n % 7}` }),
      ),
    );
    const results = await Promise.all(started.map((run) => run.result()));
    expect(results.map((result) => result.outcome)).toEqual(results.map(() => "completed"));
  } finally {
    isDone = true;
    await trouble;
    await runtime.close();
  }
  expect([...effects.values()].filter((count) => count !== 1)).toEqual([]);
  expect(effects.size).toBe(runs * steps);
}

/** Every run's seqs are gapless from 1, and its row knows the last one. */
export const findBroken = `SELECT runs.id, head, count(*) AS rows, sum(n) AS entries, max(seq + n - 1) AS last
  FROM hf.runs JOIN hf.journal ON journal.run = runs.no GROUP BY runs.no, runs.id, head
  HAVING head <> sum(n) OR head <> max(seq + n - 1) OR min(seq) <> 1`;
