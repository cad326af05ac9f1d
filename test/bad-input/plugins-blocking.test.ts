/**
 * A hook that holds the whole process. Nothing can interrupt it, so no deadline helps; what counts is that afterwards nothing was
 * done twice, nothing was let through unseen, and everybody else goes on.
 */
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Phase } from "../../src/domain/phase.ts";
import { plugin } from "../../src/domain/plugin.ts";
import { agent, createRuntime, memory, type Run, tool } from "../../src/index.ts";
import { aModelThat, callsTool } from "../../src/testing/story.ts";

const leaseMs = 100;

/** For longer than a lease lasts. */
function holdTheLoop(): void {
  const until = performance.now() + 2.5 * leaseMs;
  while (performance.now() < until);
}

const phases: readonly Phase[] = [
  "before-run",
  "before-model",
  "after-model",
  "tool-gate",
  "before-tool",
  "after-tool",
];

/** A lease that ran out between a call and its settlement leaves the outcome to somebody who knows. */
async function seeThrough(run: Run): Promise<string> {
  for (;;) {
    const idle = await run.idle({ signal: AbortSignal.timeout(10_000) });
    if (idle.status === "done") return idle.result.outcome;
    for (const ticket of idle.tickets) {
      if (ticket.kind !== "unknown-outcome") throw new Error(`Nobody expected ${ticket.kind}: ${ticket.prompt}`);
      await setTimeout(Math.max(0, (ticket.decidableFrom ?? 0) - Date.now()));
      await ticket.markDone("paid");
    }
  }
}

describe.each(phases)("in %s", (phase) => {
  test("for longer than a lease: every call is made once, and other runs go on", async () => {
    const paid: string[] = [];
    const pay = tool({
      name: "pay",
      description: "Pay",
      input: z.object({}),
      timeoutMs: 1_000,
      execute: (_input, { runId }) => void paid.push(runId),
    });
    let blocks = 1;
    const sticky = plugin({
      name: "sticky",
      create: () => ({
        hooks: {
          [phase]: () => {
            blocks -= 1;
            if (blocks === 0) holdTheLoop();
          },
        },
      }),
    })();
    const options = { instructions: "Pay.", tools: [pay] };
    const slow = agent({
      ...options,
      name: "slow",
      model: aModelThat(callsTool("pay"), "Done.").model,
      plugins: [sticky],
    });
    const other = agent({ ...options, name: "other", model: aModelThat(callsTool("pay"), "Done.").model });
    const logger = { warn: () => undefined, note: () => undefined };
    await using runtime = await createRuntime({ agents: [slow, other], store: memory(), leaseMs, pollMs: 10, logger });
    const runs = await Promise.all([runtime.start(other, "go"), runtime.start(slow, "go"), runtime.start(other, "go")]);
    expect(await Promise.all(runs.map(seeThrough))).toEqual(["completed", "completed", "completed"]);
    expect(blocks).toBeLessThan(1);
    expect(new Set(paid).size).toBe(3);
    expect(paid).toHaveLength(3);
  });
});
