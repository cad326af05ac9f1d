// An agent that gives work to another one. The other's approval is found, and answered, at the root.
// expect: Paid 20 to Ada. All done.
import { agent, createRuntime, delegate, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const payment = z.object({ to: z.string(), amount: z.number() });

// #region delegate
const pay = tool({
  name: "pay",
  description: "Pay somebody",
  input: payment,
  needsApproval: true,
  execute: ({ to, amount }) => `Paid ${amount} to ${to}.`,
});

const clerk = agent({
  name: "clerk",
  model: scripted([{ calls: [{ tool: "pay", input: { to: "Ada", amount: 20 } }] }, "Paid 20 to Ada."]),
  instructions: "Pay what you are told to pay.",
  tools: [pay],
});

const lead = agent({
  name: "lead",
  model: scripted([{ calls: [{ tool: "clerk", input: { task: "Pay Ada 20" } }] }, "Paid 20 to Ada. All done."]),
  instructions: "Give payments to the clerk.",
  delegates: [delegate(clerk, { description: "Makes one payment", budget: { steps: 5 } })],
});
// #endregion delegate

await using runtime = await createRuntime({ agents: [lead] });
const run = await runtime.start(lead, "Pay Ada 20");

// #region answer
await run.idle(); // nothing moves any more, in the run or below it
for (const ticket of await runtime.tickets.list({ root: run.id, tool: pay, kind: "approval", status: "open" })) {
  const [above] = ticket.path ?? [];
  console.log(`${ticket.agent}, called by ${above?.agent}, asks: ${ticket.prompt}`);
  await ticket.approve({ by: "ana@example.com" });
}
// #endregion answer
await run.result();

// #region cancel
const { descendants } = await (await run.cancel({ by: "ana@example.com" })).receipt();
// #endregion cancel
console.log(descendants.length, "were stopped"); // it had ended
console.log(await run.output());
