// A test of an agent: three days and a crash in a few milliseconds.
// expect: an approval survives a crash and three days: ok
import { deepEqual, equal } from "node:assert/strict";
import { agent, tool } from "holdfast";
import { scripted, testRuntime } from "holdfast/testing";
import { z } from "zod";

const refund = tool({
  name: "refund",
  description: "Refund an order",
  input: z.object({ order: z.string(), cents: z.number().int().positive() }),
  effect: "idempotent",
  needsApproval: ({ cents }) => cents > 5_000,
  execute: ({ order }) => ({ refunded: order }),
});
const support = agent({
  name: "support",
  model: scripted([]), // in production a real model; the test brings its own
  instructions: "Resolve refund requests politely.",
  tools: [refund],
});

// #region test
const says = scripted([{ calls: [{ tool: "refund", input: { order: "42", cents: 8_000 } }] }, "Refunded."]);
await using t = await testRuntime({ agents: [support], models: { support: says } });

const { id } = await t.runtime.start(support, "Refund order 42, $80");
equal((await t.runtime.runs.get(id).idle()).status, "waiting");
deepEqual(t.effects(refund), []); // nothing happened yet

await t.restart(); // the process dies without a word; another one starts on the same store
await t.advance("3d"); // time moves only when the test says so

const [ticket] = await t.runtime.tickets.list({ tool: refund, status: "open" });
if (ticket?.kind !== "approval") throw new Error("no approval is waiting");
await ticket.approve({ by: "ana@example.com" });

equal(await t.runtime.runs.get(id, support).output(), "Refunded.");
equal(t.effects(refund).length, 1); // what the tool's code was really called with
// #endregion test

console.log("an approval survives a crash and three days: ok");
