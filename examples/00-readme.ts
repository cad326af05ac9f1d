// The lines of the README.
// expect: Refunded.
// #region readme
import { agent, createRuntime, tool } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const refund = tool({
  name: "refund",
  description: "Refund an order",
  input: z.object({ order: z.string(), cents: z.number().int().positive() }),
  effect: "idempotent", // the payment provider dedupes on our key; the default is the careful "once"
  needsApproval: ({ cents }) => cents > 5_000,
  execute: ({ order, cents }, { idempotencyKey }) => ({ refunded: order, cents, receipt: idempotencyKey }),
});

const model = scripted([{ calls: [{ tool: "refund", input: { order: "42", cents: 8_000 } }] }, "Refunded."]);
const support = agent({ name: "support", model, instructions: "Resolve refund requests.", tools: [refund] });

await using runtime = await createRuntime({ agents: [support], store: sqlite("runs.db") });
const run = await runtime.start(support, "Refund order 42, $80", { key: "ticket-981" }); // same key, same run
await run.idle(); // waiting or done; a process may die here and another one goes on

const [ticket] = await runtime.tickets.list({ tool: refund, status: "open" }); // days later, in any process
if (ticket?.kind === "approval") await ticket.approve({ by: "ana@example.com" }); // or edit, reject, answer

const result = await run.result(); // a value for every outcome
console.log(result.outcome === "completed" ? result.output : result);
// #endregion readme
