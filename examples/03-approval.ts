// Four calls of one step, four answers: each call is decided on its own.
// expect: The model read: paid 9000, paid 500, Not our order, paid by cheque
import { agent, createRuntime, type ModelRequest, tool } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { scripted } from "holdfast/testing";
import { z } from "zod";

// #region tool
const pay = tool({
  name: "pay",
  description: "Pay an invoice",
  input: z.object({ invoice: z.string(), cents: z.number().int().positive() }),
  effect: "idempotent",
  needsApproval: true, // or a function of the input: ({ cents }) => cents > 5_000
  execute: ({ cents }) => `paid ${cents}`,
});
// #endregion tool

const invoices = ["a", "b", "c", "d"];
const clerk = agent({
  name: "clerk",
  instructions: "Pay what is due.",
  tools: [pay],
  model: scripted([
    { calls: invoices.map((invoice) => ({ tool: "pay", input: { invoice, cents: 9_000 } })) },
    (request) => `The model read: ${results(request).join(", ")}`,
  ]),
});

await using runtime = await createRuntime({ agents: [clerk], store: sqlite("approvals.db") });
const run = await runtime.start(clerk, "Pay the invoices of this week");

// #region waiting
const idle = await run.idle();
console.log(`${idle.status}, ${idle.status === "waiting" ? idle.tickets.length : 0} open tickets`);
// #endregion waiting

// #region decide
const by = "ana@example.com";
for (const ticket of await runtime.tickets.list({ tool: pay, run: run.id, status: "open" })) {
  if (ticket.kind !== "approval") continue;
  console.log(`${ticket.prompt} ${JSON.stringify(ticket.input)}`);
  const { invoice } = ticket.input; // typed by the tool
  if (invoice === "a") await ticket.approve({ by });
  if (invoice === "b") await ticket.edit({ invoice, cents: 500 }, { by }); // replaces the whole input
  if (invoice === "c") await ticket.reject("Not our order", { by }); // the model reads the reason
  if (invoice === "d") await ticket.answer("paid by cheque", { by }); // is the result; the tool does not run
}
// #endregion decide

console.log(await run.output());

/** What the model was told of each call, in the order of the calls. */
function results({ messages }: ModelRequest): string[] {
  const parts = messages.flatMap((message) => message.parts).filter((part) => part.type === "tool-result");
  return parts.map(({ result }) => (result.kind === "value" ? (result.say ?? String(result.value)) : result.message));
}
