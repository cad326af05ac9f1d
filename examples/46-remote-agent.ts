// A run of ours whose turns are made by somebody else's agent, over A2A. What it asks is a ticket here.
// expect: The remote asks: Refund order 42, $80? ana says yes. Order 42 is refunded.
import { agent, createRuntime } from "holdfast";
import { a2a } from "holdfast/a2a";
import { startRefunds } from "./server/a2a-refunds.ts";

await using remote = await startRefunds(); // stands for a server far away
const { url } = remote;

// #region agent
const refunds = agent({
  name: "refunds",
  backend: a2a({
    baseUrl: url, // its card is at /.well-known/agent-card.json below
    timeout: 120_000, // for a whole turn
    options: { privateRanges: ["127.0.0.1"] }, // addresses outside the open internet are refused unless listed
  }),
});
// #endregion agent

// #region run
await using runtime = await createRuntime({ agents: [refunds] });
const run = await runtime.start(refunds, "Refund order 42", { key: "ticket-981" }); // nothing was asked of it before this
await run.idle();

// any process, days later: the answer continues the same task
const [ticket] = await runtime.tickets.list({ kind: "input", status: "open" });
await ticket?.answer("yes", { by: "ana@example.com" });
const said = await run.output();
// #endregion run

console.log(`The remote asks: ${ticket?.prompt} ana says yes. ${said}`);
