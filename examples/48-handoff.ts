// A conversation that one agent hands to another, and gets back.
// expect: Paid 20 to Ada. Anything else?
import { agent, createRuntime, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const pay = tool({
  name: "pay",
  description: "Pay somebody",
  input: z.object({ to: z.string(), amount: z.number() }),
  execute: ({ to, amount }) => `Paid ${amount} to ${to}.`,
});

// #region handoff
const payments = agent({
  name: "payments",
  model: scripted([
    "The first step of the run is the desk's.",
    { calls: [{ tool: "pay", input: { to: "Ada", amount: 20 } }] },
    { calls: [{ tool: "hand_back", input: { note: "Ada was paid" } }] },
  ]),
  instructions: "Make payments. Hand back when they are made.",
  tools: [pay],
});

const desk = agent({
  name: "desk",
  model: scripted([
    { calls: [{ tool: "transfer_to_payments", input: {} }] },
    "The second and third are those of payments.",
    "The same.",
    "Paid 20 to Ada. Anything else?",
  ]),
  instructions: "Welcome people, and hand payments over.",
  handoffs: [payments],
});
// #endregion handoff

await using runtime = await createRuntime({ agents: [desk] });
console.log(await (await runtime.start(desk, "Pay Ada 20")).output());
