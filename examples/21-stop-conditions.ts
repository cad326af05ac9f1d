// Runs that would go on for ever, or further than they should, and what ends them.
// expect: stopped by loop, tool, too-dear; completed
import { agent, createRuntime, textOf, tool } from "holdfast";
import { stopConditions } from "holdfast/plugins";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const search = tool({
  name: "search",
  description: "Look something up",
  input: z.object({ topic: z.string() }),
  effect: "pure",
  execute: () => "nothing found",
});
const handOver = tool({
  name: "hand-over",
  description: "Let a person go on",
  input: z.object({}),
  effect: "idempotent",
  execute: () => "somebody will call",
});

/** Its answer depends on the question only. */
const model = scripted(
  Array.from(
    { length: 20 },
    () =>
      ({ messages }) =>
        answer(messages.map(textOf)),
  ),
);

function answer(said: readonly string[]): string | { calls: { tool: string; input: object }[] } {
  const [question = ""] = said;
  if (question.includes("again")) return { calls: [{ tool: "search", input: { topic: "the same" } }] };
  if (question.includes("person")) return { calls: [{ tool: "hand-over", input: {} }] };
  if (question.includes("all")) return { calls: [{ tool: "search", input: { topic: `topic ${said.length}` } }] };
  return "42.";
}

// #region agent
const clerk = agent({
  name: "clerk",
  model,
  instructions: "Answer questions.",
  tools: [search, handOver],
  plugins: [
    stopConditions({
      steps: 10, // ten model calls, and no eleventh
      wallTimeMs: 60_000, // no step begins after a minute
      tokens: 100_000, // in and out together
      consecutiveErrors: 3, // tool calls that failed in a row
      loop: { calls: 3, window: 6 }, // the same call three times among the last six
      onTool: ["hand-over"], // done when this tool has answered
      onText: { regex: "^GIVE UP" }, // linear time, whatever the text is
      custom: ({ usage }) => (usage.outputTokens > 5 ? { code: "too-dear", detail: "This is too dear." } : undefined),
    }),
  ],
});
// #endregion agent

await using runtime = await createRuntime({ agents: [clerk] });
const codes: string[] = [];

// #region result
for (const question of ["Search again and again", "I want a person", "Tell me all"]) {
  const result = await runtime.run(clerk, question);
  if (result.outcome !== "stopped") throw new Error(result.outcome);
  codes.push(result.code);
  console.log(`${result.code} after ${result.steps} steps: ${result.detail}`);
}
// #endregion result
const { outcome } = await runtime.run(clerk, "What is the answer?");

console.log(`stopped by ${codes.join(", ")}; ${outcome}`);
