// A typed answer: the model's first try does not fit, it is shown why, and the second one does. Then the three ways to ask.
// expect: native: refunded | tool: refunded | text: refunded
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

// #region modes
const answer = { note: "refunded" };
const text = JSON.stringify(answer);
const models = [
  // Its provider binds it to the schema, which is in the request.
  scripted([({ output }) => (output ? text : "?")], { description: { structuredOutput: true } }),
  // It calls tools: the answer is the input of one that is offered beside the agent's own.
  scripted([{ calls: [{ tool: "holdfast_answer", input: answer }] }], { description: { toolCalls: true } }),
  // It says nothing of itself: it is told the schema in words.
  scripted([({ instructions }) => (instructions.includes("JSON Schema") ? text : "?")]),
];
const clerks = models.map((model, index) =>
  agent({ name: `clerk-${index}`, model, instructions: "Be brief.", output: z.object({ note: z.string() }) }),
);
// #endregion modes

await using runtime = await createRuntime({ agents: [support, ...clerks] });

// #region result
const result = await runtime.run(support, "Refund order 42, $80");
if (result.outcome === "completed") {
  const { resolved, note } = result.output; // boolean and string, as the schema says
  console.log(`Resolved: ${resolved} (${note}), after ${result.steps} steps.`);
}
// #endregion result

const lines: string[] = [];
for (const clerk of clerks) {
  const run = await runtime.start(clerk, "Refund order 42, $80");
  const { note } = await run.output();
  lines.push(`${runtime.manifest(clerk).declared.output?.mode}: ${note}`);
}
console.log(lines.join(" | "));
