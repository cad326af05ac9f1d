// A model on a bad day: overloaded, cut off after a call, cut off in a sentence, cut at its output limit. One answer all the same.
// expect: The order is on its way to you. Looked 1 time.
import { agent, createRuntime, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

let looked = 0;
const look = tool({
  name: "look",
  description: "Where an order is",
  input: z.object({ order: z.number() }),
  effect: "pure",
  execute: () => {
    looked += 1;
    return "on its way";
  },
});

// #region days
// Stands in for a provider, so that this runs offline: one answer for each attempt of a step.
const model = scripted([
  {
    attempts: [
      { error: "model-overloaded", message: "529 overloaded", retryAfterMs: 200 },
      { parts: [{ type: "tool-call", alias: "1", tool: "look", inputText: '{"order":7}' }] }, // … and the stream ends
    ],
  },
  {
    attempts: [
      { parts: [{ type: "text-delta", text: "The order " }] }, // … and the stream ends
      { text: "The order is on its", finish: "length" }, // at its output limit
      "The order is on its way to you.",
    ],
  },
]);
// #endregion days

const clerk = agent({ name: "clerk", instructions: "Say where orders are.", model, tools: [look] });

// #region limits
await using runtime = await createRuntime({
  agents: [clerk],
  limits: {
    modelAttempts: 4, // of one call, before the run fails
    modelIdleMs: 30_000, // without a sign of life
    modelTimeoutMs: 300_000, // for one attempt, however much it says
  },
});
// #endregion limits

const run = await runtime.start(clerk, "Where is order 7?");

// #region watch
for await (const event of run.watch({ until: "end" })) {
  if (event.type !== "effect-settled") continue;
  const { result } = event;
  if (result.kind === "failed") console.log(`${result.error.code}, tried again: ${result.retryAt !== undefined}`);
  if (result.kind === "done" && "cut" in result) console.log(`${result.cut?.code}, and its calls run`);
}
// #endregion watch

console.log(`${await run.output()} Looked ${looked} time.`);
