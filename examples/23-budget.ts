// A run with a budget of money: it ends before the model call that it cannot pay for.
// expect: stopped by budget after 2 steps; spent 0.033 USD of 0.04.
import { agent, createRuntime, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const search = tool({
  name: "search",
  description: "Search the archive",
  input: z.object({}),
  effect: "pure",
  execute: () => "nothing yet",
});
const again = { calls: [{ tool: "search" }], inputTokens: 5_000, outputTokens: 100 };

// #region budget
const researcher = agent({
  name: "researcher",
  instructions: "Search until you find it.",
  model: scripted([again, again, again], {
    description: { prices: { inputPerMillion: 3, outputPerMillion: 15 }, maxOutputTokens: 500 },
  }),
  tools: [search],
  budget: { steps: 20, usd: 0.04 },
});
// #endregion budget

await using runtime = await createRuntime({ agents: [researcher] });
const result = await runtime.run(researcher, "Where is the letter?");
if (result.outcome === "stopped")
  console.log(`stopped by ${result.code} after ${result.steps} steps; spent ${result.spent?.usd} USD of 0.04.`);
