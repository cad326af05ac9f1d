/**
 * Makes bad calls in one process and prints the heap after every thousand of them, as JSON. Run with --expose-gc.
 * argv: file of the store, number of calls.
 */
import { z } from "zod";
import { agent, createRuntime, tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { sqlite } from "../../src/sqlite.ts";

const [path = "", count = "10000"] = process.argv.slice(2);
const collect = (globalThis as unknown as { gc: () => void }).gc;

function aCycle(): unknown {
  const cycle: Record<string, unknown> = { big: "x".repeat(10_000) };
  cycle.self = cycle;
  return cycle;
}

const deeds: readonly (() => unknown)[] = [
  () => {
    throw new Error("x".repeat(10_000));
  },
  () => Promise.reject(new Error("rejected")),
  () => () => "x".repeat(10_000),
  aCycle,
  () => "x".repeat(1024 * 1024),
  () => "\ud800",
  () => new Promise(() => undefined),
];

const bad = tool({
  name: "bad",
  description: "Misbehaves",
  input: z.object({ n: z.number().refine(async () => true) }),
  effect: "pure",
  timeoutMs: 5,
  needsApproval: async ({ n }) => {
    if (n % 11 === 10) throw new Error("no rule");
    return false;
  },
  execute: ({ n }) => deeds[n % deeds.length]?.(),
});

const callsPerStep = 50;
const steps = 5;
const badCalls = Array.from({ length: callsPerStep }, (_, n) => {
  if (n % 5 === 4) return { tool: n % 2 === 0 ? "nobody" : "bad", inputText: '{"n": ' };
  return { tool: "bad", input: { n } };
});
const answers = [...Array.from({ length: steps }, () => ({ calls: badCalls })), "Done."];
const clumsy = agent({ name: "clumsy", model: scripted(answers), instructions: "Fail.", tools: [bad] });

const runtime = await createRuntime({ agents: [clumsy], store: sqlite(path, { durability: "normal" }) });
const heap: number[] = [];
let made = 0;
for (let next = 1_000; made < Number(count); next += 1_000) {
  while (made < next) {
    const results = await Promise.all([1, 2].map(() => runtime.run(clumsy, "go")));
    for (const { outcome } of results) if (outcome !== "completed") throw new Error(outcome);
    made += results.length * steps * callsPerStep;
  }
  collect();
  heap.push(process.memoryUsage().heapUsed);
}
await runtime.close();
process.stdout.write(JSON.stringify({ made, heap }));
