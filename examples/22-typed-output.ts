// A typed answer: the model's first try does not fit, it is shown why, and the second one does.
// expect: Resolved: true (Refunded 80 dollars), after 2 steps.
import { agent, createRuntime } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

// #region output
const support = agent({
  name: "support",
  instructions: "Resolve refund requests politely.",
  model: scripted(['{"resolved":"yes"}', '{"resolved":true,"note":"Refunded 80 dollars"}']),
  output: z.object({ resolved: z.boolean(), note: z.string() }),
  repairs: 1,
});
// #endregion output

await using runtime = await createRuntime({ agents: [support] });

// #region result
const result = await runtime.run(support, "Refund order 42, $80");
if (result.outcome === "completed") {
  const { resolved, note } = result.output; // boolean and string, as the schema says
  console.log(`Resolved: ${resolved} (${note}), after ${result.steps} steps.`);
}
// #endregion result
