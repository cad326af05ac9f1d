// The whole of it in one file: a typed tool that needs approval, a typed answer, a budget of money, two processes, and days in between.
// expect: run-waiting … ana@example.com approved … Refunded $80 on order 42.
import { agent, createRuntime, tool } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { scripted } from "holdfast/testing"; // offline; a provider's model stands in the same place
import { z } from "zod";

/** Stands for a payment provider that dedupes on our key. */
const payments = {
  receipts: new Map<string, string>(),
  async refund(order: string, cents: number, { idempotencyKey }: { idempotencyKey: string; signal: AbortSignal }) {
    const receipt = `${order}: ${cents}`;
    this.receipts.set(idempotencyKey, receipt);
    return { receipt };
  },
};

const refund = tool({
  name: "refund",
  description: "Refund an order",
  input: z.object({ order: z.string(), cents: z.number().int().positive() }),
  effect: "idempotent", // payments dedupes on our key; the default is the careful "once"
  needsApproval: ({ cents }) => cents > 5_000,
  execute: ({ order, cents }, { idempotencyKey, signal }) => payments.refund(order, cents, { idempotencyKey, signal }),
});

const model = scripted(
  [
    { calls: [{ tool: "refund", input: { order: "42", cents: 8_000 } }] },
    '{ "resolved": true, "note": "Refunded $80 on order 42." }',
  ],
  { description: { prices: { inputPerMillion: 3, outputPerMillion: 15 } } }, // a budget of money needs prices
);

const support = agent({
  name: "support",
  model,
  instructions: "Resolve refund requests politely.",
  tools: [refund],
  output: z.object({ resolved: z.boolean(), note: z.string() }),
  budget: { steps: 20, usd: 0.5 },
});

const said: string[] = [];
let id: string;
{
  await using runtime = await createRuntime({ agents: [support], store: sqlite("support.db") });
  const run = await runtime.start(support, "Refund order 42, $80", { thread: "t-1", key: "ticket-981" }); // same key, same run
  for await (const event of run.watch({ until: "idle" })) if (event.type === "run-waiting") said.push(event.type);
  id = run.id;
}

// any process, three days and two deploys later
await using runtime = await createRuntime({ agents: [support], store: sqlite("support.db") });
const [ticket] = await runtime.tickets.list({ tool: refund, kind: "approval", status: "open" }); // typed by the tool
const settled = await ticket?.approve({ by: "ana@example.com" }); // or .edit({ order, cents: 7_500 }), .reject("why"), .answer(value)
said.push(`${settled?.by} ${settled?.decision.kind}d`);
const result = await runtime.runs.get(id, support).result(); // done, however long it takes
if (result.outcome === "completed") said.push(result.output.note); // typed by the agent
console.log(said.join(" … "));
