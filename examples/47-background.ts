// An agent that gives work away and talks on meanwhile. What came of the work is told to it later.
// expect: completed The report is ready: 12 pages.
import { agent, createRuntime, delegate, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const print = tool({
  name: "print",
  description: "Print the report",
  input: z.object({}),
  needsApproval: true,
  execute: () => "12 pages",
});

const writer = agent({
  name: "writer",
  model: scripted([{ calls: [{ tool: "print" }] }, "12 pages"]),
  instructions: "Write the report.",
  tools: [print],
});

// #region background
const desk = agent({
  name: "desk",
  model: scripted([
    { calls: [{ tool: "writer", input: { task: "The yearly report" } }] }, // answered at once: { task, status: "running" }
    "It is being written. Anything else?",
    "We are open until six.",
    "The report is ready: 12 pages.",
  ]),
  instructions: "Give reports to the writer, and talk on meanwhile.",
  delegates: [delegate(writer, { background: true })],
});
// #endregion background

await using runtime = await createRuntime({ agents: [desk] });
const run = await runtime.start(desk, "I need the yearly report");
await run.idle();

// #region beside
await run.send("When do you close?"); // answered while the writer is at work
await run.idle();
for (const task of await run.tasks()) console.log(task.agent, "is", task.status);
// #endregion beside

for (const ticket of await runtime.tickets.list({ root: run.id, tool: print, kind: "approval", status: "open" })) {
  await ticket.approve({ by: "ana@example.com" });
}

const result = await run.result();
console.log(result.outcome, await run.output());
