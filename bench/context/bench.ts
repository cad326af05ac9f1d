/**
 * What a step costs on a long thread: one run of many steps in memory, with a window that is full at step 50. The time between
 * two model calls, around step 50 and later; with and without summaries.
 *
 *   npm run bench -- context [--steps 5000] [--rounds 5] [--write] [--note "…"]
 */
import { agent, createRuntime, type Model, memory, tool } from "../../src/index.ts";
import { medianOf, readOptions } from "../plugins/bench.ts";
import { schema } from "../plugins/schema.ts";
import { commitLine, loadNow, machineLine, writeSection } from "../results.ts";

type Kind = "left out" | "summarised";
const kinds: readonly Kind[] = ["left out", "summarised"];

export async function benchContext(args: readonly string[]): Promise<void> {
  const { steps, rounds, write, note } = readOptions(args);
  await measure("left out", 200);
  const measured = kinds.map((kind) => ({ kind, times: [] as (readonly number[])[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { kind, times } of measured) times.push(await measure(kind, steps));
  }
  const places = [50, Math.floor(steps / 10), Math.floor(steps / 2), steps - 100];
  const rows = measured.map(({ kind, times }) => ({ kind, at: places.map((place) => around(times, place)) }));
  const lines = [
    `One run of ${steps} steps with one tool call each and a window of 100 messages; ${rounds} rounds. Median µs between two model calls,`,
    "over the 100 steps around the place; the ratio is to step 50 of the same run.",
    `${machineLine()}; ${commitLine()}; load ${loadNow()}.${note ? ` ${note}` : ""}`,
    "",
    `| what is old is | ${places.map((place) => `step ${place}`).join(" | ")} |`,
    `|---|${places.map(() => "---").join("|")}|`,
    ...rows.map(
      ({ kind, at }) =>
        `| ${kind} | ${at.map((us) => `${us.toFixed(0)} (${(us / (at[0] ?? 1)).toFixed(2)})`).join(" | ")} |`,
    ),
  ];
  for (const line of lines) console.log(line);
  if (write) writeSection({ title: "Long threads, in memory", lines });
  const worst = Math.max(...rows.flatMap(({ at }) => at.map((us) => us / (at[0] ?? 1))));
  console.log(JSON.stringify({ bench: "context", steps, ratio: worst, goal: 1.3, pass: worst <= 1.3 }));
}

function around(times: readonly (readonly number[])[], place: number): number {
  return medianOf(times.map((round) => medianOf(round.slice(Math.max(10, place - 50), place + 50))));
}

/** Microseconds from each model call to the next. */
async function measure(kind: Kind, steps: number): Promise<readonly number[]> {
  const look = tool({ name: "look", description: "Look", input: schema, effect: "pure", execute: () => "ok" });
  const begun: number[] = [];
  const model: Model = {
    description: { provider: "bench", model: "m" },
    async *call({ step, tools }) {
      const isSummary = tools.length === 0;
      if (!isSummary) begun.push(performance.now() * 1_000);
      if (isSummary || step > steps) yield { type: "text-delta", text: "ok" };
      else yield { type: "tool-call", alias: "a", tool: "look", inputText: "{}" };
      yield { type: "finish", reason: isSummary || step > steps ? "stop" : "tool-calls" };
    },
  };
  const bench = agent({
    name: "bench",
    model,
    instructions: "Look.",
    tools: [look],
    budget: { steps: steps + 1 },
    ...(kind === "summarised" ? { history: { compact: { summaryTokens: 64, saves: 0 } } } : {}),
  });
  await using runtime = await createRuntime({ agents: [bench], store: memory(), limits: { window: 100 } });
  const result = await runtime.run(bench, "go");
  if (result.outcome !== "completed") throw new Error(`The run ended as ${JSON.stringify(result)}`);
  return begun.slice(1).map((at, index) => at - (begun[index] ?? at));
}
