// A run goes on a second time from an earlier step, with another agent. The first run stays as it is.
// expect: The run: Take the bus. The fork: Walk, it is dry.
import { agent, createRuntime, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const weather = tool({
  name: "weather",
  description: "The weather now",
  input: z.object({}),
  effect: "pure",
  execute: () => "dry, 14 degrees",
});
const careful = agent({
  name: "careful",
  instructions: "Say how to get there.",
  model: scripted([{ calls: [{ tool: "weather" }] }, "Take the bus."]),
  tools: [weather],
});
const sporty = agent({
  name: "sporty",
  instructions: "Say how to get there on foot.",
  model: scripted([({ messages }) => (messages.some(({ role }) => role === "tool") ? "Walk, it is dry." : "Walk.")]),
});
await using runtime = await createRuntime({ agents: [careful, sporty] });

const run = await runtime.start(careful, "How do I get to the harbour?");
const said = await run.output();

// #region fork
const fork = await runtime.runs.fork(run.id, sporty, { atStep: 2 }); // it has the question and the weather, not the answer
const says = await fork.output();
// #endregion fork

console.log(`The run: ${said} The fork: ${says}`);
