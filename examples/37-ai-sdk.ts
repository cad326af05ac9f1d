// A model of the AI SDK, with its real package: approved days later, typed at the end, thoughts sent back as they came.
// expect: Refunded $80 for order 42; its thoughts went back signed: true
import { createAnthropic } from "@ai-sdk/anthropic";
import { agent, createRuntime, fromAiSdk, isHoldfastError, tool } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { z } from "zod";
import { messagesServer } from "./server/messages-server.ts";

// A stand-in for the vendor, so that this runs offline. Without it: import { anthropic } from "@ai-sdk/anthropic".
await using vendor = await messagesServer([
  [
    { type: "thinking", thinking: "$80 is a lot; the tool will ask.", signature: "c2lnbmVk" },
    { type: "tool_use", id: "toolu_1", name: "refund", input: { order: "42", cents: 8_000 } },
  ],
  [{ type: "tool_use", id: "toolu_2", name: "holdfast_answer", input: { resolved: true, note: "Refunded $80" } }],
]);
const anthropic = createAnthropic({ baseURL: vendor.baseURL, apiKey: "not-needed-here" });

// #region direct
const greeter = agent({
  name: "greeter",
  model: anthropic("claude-sonnet-4-5"), // any AI SDK model, as it is
  instructions: "Greet people.",
});
// #endregion direct

const refund = tool({
  name: "refund",
  description: "Refund an order",
  input: z.object({ order: z.string(), cents: z.number().int().positive() }),
  effect: "idempotent",
  needsApproval: ({ cents }) => cents > 5_000,
  execute: ({ order, cents }, { idempotencyKey }) => ({ refunded: order, cents, receipt: idempotencyKey }),
});

// #region more
const model = fromAiSdk(anthropic("claude-sonnet-4-5"), {
  contextWindow: 200_000,
  maxOutputTokens: 64_000,
  prices: { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 },
  settings: { providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 2_000 } } } },
});

const support = agent({
  name: "support",
  model,
  instructions: "Resolve refund requests politely.",
  tools: [refund],
  output: z.object({ resolved: z.boolean(), note: z.string() }),
  budget: { steps: 20, usd: 0.5 }, // needs the prices
});
// #endregion more

await using runtime = await createRuntime({ agents: [support, greeter], store: sqlite("runs.db") });
const run = await runtime.start(support, "Refund order 42, $80", { thread: "t-1", key: "ticket-981" });
for await (const event of run.watch({ until: "idle" })) console.log(event.type);

const [ticket] = await runtime.tickets.list({ tool: refund, status: "open" });
if (ticket?.kind === "approval") await ticket.approve({ by: "ana@example.com" });

const result = await runtime.runs.get(run.id, support).result();
const note = result.outcome === "completed" ? result.output.note : JSON.stringify(result);

// #region prices
try {
  agent({ name: "unpriced", model: anthropic("claude-sonnet-4-5"), instructions: "", budget: { usd: 0.5 } });
} catch (cause) {
  if (isHoldfastError(cause)) console.log(cause.message); // says which model, and where its prices go
}
// #endregion prices

const isSigned = JSON.stringify(vendor.requests[1]).includes("c2lnbmVk");
console.log(`${note} for order 42; its thoughts went back signed: ${isSigned}`);
