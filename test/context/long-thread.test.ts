/** A thread of 5,000 steps: what is sent fits, stays flat and keeps its beginning; what was said stays readable. */
import { expect, test } from "vitest";
import { z } from "zod";
import type { Agent } from "../../src/domain/agent.ts";
import type { RunEvent } from "../../src/domain/event.ts";
import type { HistoryOptions } from "../../src/domain/history.ts";
import { agent, tool } from "../../src/index.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";
import { type CountingModel, callsTool, countingModel, says } from "./counting-model.ts";

const all = Number(process.env["HOLDFAST_THREAD_STEPS"] ?? 5_000);

const read = tool({
  name: "read",
  description: "Reads a page",
  input: z.object({ page: z.number() }),
  effect: "pure",
  execute: ({ page }) => `Page ${page}: ${"lorem ipsum dolor sit amet ".repeat(6 + (page % 7))}`,
});

interface Thread {
  readonly steps: number;
  readonly runs: number;
  /** Nearly full at step 50, so that what comes later can be compared with it. */
  readonly window: number;
  readonly history?: HistoryOptions;
}

function reader({ steps, runs, window, history }: Thread): { one: Agent; model: CountingModel } {
  const last = steps / runs;
  const model = countingModel({
    window,
    answer: ({ step }) => (step < last ? callsTool("read", { page: step }) : says(`Read ${step} pages.`)),
  });
  const one = agent({
    name: "reader",
    model,
    instructions: "Read all pages, one after the other.",
    tools: [read],
    budget: { steps: 10_000 },
    ...(history ? { history } : {}),
  });
  return { one, model };
}

interface Played {
  readonly model: CountingModel;
  readonly projected: readonly RunEvent[];
  readonly messages: number;
}

async function play(thread: Thread): Promise<Played> {
  const { one, model } = reader(thread);
  await using t = await testRuntime({ agents: [one] });
  const projected: RunEvent[] = [];
  for (let index = 0; index < thread.runs; index += 1) {
    const run = await t.runtime.start(one, `Part ${index}`, { thread: "t" });
    expect(await run.result()).toMatchObject({ outcome: "completed" });
    for await (const event of run.watch()) if (event.type === "context-projected") projected.push(event);
  }
  return { model, projected, messages: await countMessages(t.runtime) };
}

async function countMessages(runtime: Runtime): Promise<number> {
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = await runtime.threads.messages("t", { order: "oldest", limit: 1_000, cursor });
    count += page.items.length;
    cursor = page.next;
  } while (cursor);
  return count;
}

const compact = { history: { compact: true } };
const few = Math.ceil(all / 5);

test.each<readonly [string, Thread]>([
  ["nothing is summarised", { steps: all, runs: 1, window: 10_500 }],
  ["old messages are summarised", { steps: all, runs: 1, window: 12_000, ...compact }],
  ["it is many runs", { steps: few, runs: few / 10, window: 9_800 }],
  ["it is many runs, and old messages are summarised", { steps: few, runs: few / 10, window: 12_000, ...compact }],
])(
  "P1 P4 where %s, every call fits, costs the same, and keeps its beginning between two marks",
  async (_, thread) => {
    const { steps, window } = thread;
    const { model, projected, messages } = await play(thread);
    expect(model.sent).toHaveLength(steps);
    expect(messages).toBe(steps * 2); // an input, and for each step a reply and a result, but no result at the end of a run
    const most = Math.max(...model.sent.map(({ tokens }) => tokens));
    expect(most).toBeLessThanOrEqual(window);
    expect(most / (model.sent[49]?.tokens ?? 0)).toBeLessThanOrEqual(1.3);
    const moves = model.sent.filter(({ continues }, index) => index > 0 && !continues).length;
    expect(moves).toBeGreaterThan(0);
    expect(moves).toBeLessThanOrEqual(projected.length);
    expect(projected.length).toBeLessThan(steps / 15);
  },
  120_000,
);
