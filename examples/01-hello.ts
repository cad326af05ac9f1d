// The smallest: one agent, one tool, one run. No key, no network.
// expect: Next: kill a process and see the run go on: npx node --conditions=holdfast-source examples/04-crash-and-resume.ts
import { agent, createRuntime, tool } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { scripted } from "holdfast/testing";
import { z } from "zod";

// #region agent
const tides = tool({
  name: "tides",
  description: "When the next high tide is",
  input: z.object({ harbour: z.string() }),
  effect: "pure",
  execute: ({ harbour }) => ({ harbour, high: "17:42" }),
});

const pilot = agent({
  name: "pilot",
  instructions: "You help small boats in and out of harbours.",
  // A model that says what it is told, one answer per step.
  model: scripted([
    { text: "Let me look.", calls: [{ tool: "tides", input: { harbour: "Whitby" } }] },
    "Whitby has high water at 17:42. Leave an hour before it.",
  ]),
  tools: [tides],
});
// #endregion agent

console.log("Hello. This is Holdfast: a run is as durable as a row in a database.\n");

// #region run
await using runtime = await createRuntime({ agents: [pilot], store: sqlite("hello.db") });
const run = await runtime.start(pilot, "When can I leave Whitby today?");
const answer = await run.output();
// #endregion run

// #region status
const { status, steps, inputTokens, outputTokens, startedAt = 0, finishedAt = 0 } = await run.status();
console.log(`run     ${run.id}`);
console.log(`status  ${status} after ${finishedAt - startedAt} ms`);
console.log(`steps   ${steps}: the model asked for tides, read its result, and answered`);
console.log(`tokens  ${inputTokens} in, ${outputTokens} out`);
console.log(`answer  ${answer}\n`);
// #endregion status

console.log("Every step of it is in hello.db. Start this again and a second run joins the first.");
console.log("Read: docs/tutorial/first-run.md");
console.log(
  "Next: kill a process and see the run go on: npx node --conditions=holdfast-source examples/04-crash-and-resume.ts",
);
