// What a tool says about its effect decides what may be done after a crash.
// expect: The model read: order found, 1200 cents refunded, mailbox is full
import { agent, createRuntime, type ModelRequest, ToolFailure, tellModel, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const payments = new Map<string, number>();
const outbox = new Map<string, string>();

// #region pure
const findOrder = tool({
  name: "find-order",
  description: "Look an order up",
  input: z.object({ order: z.string() }),
  effect: "pure", // changes nothing outside: run again as often as needed
  execute: ({ order }) => tellModel({ order, cents: 1_200, lines: ["rope", "shackle"] }, "order found"),
});
// #endregion pure

// #region idempotent
const refund = tool({
  name: "refund",
  description: "Refund an order",
  input: z.object({ order: z.string(), cents: z.number().int().positive() }),
  effect: "idempotent", // run again with the same key; the receiver must ignore a key that it has seen
  execute: ({ cents }, { idempotencyKey }) => {
    if (!payments.has(idempotencyKey)) payments.set(idempotencyKey, cents);
    return `${cents} cents refunded`;
  },
});
// #endregion idempotent

// #region once
const sendMail = tool({
  name: "send-mail",
  description: "Send a mail",
  input: z.object({ to: z.string(), text: z.string() }),
  effect: "once", // the default: never started a second time without an answer from someone who knows
  timeoutMs: 10_000,
  execute: ({ to, text }, { idempotencyKey }) => {
    if (to === "full@example.com") throw new ToolFailure("mailbox is full"); // says: nothing happened
    outbox.set(idempotencyKey, text);
    return "sent";
  },
  // Asked after a crash or a throw. A read: did the call with this key take effect?
  reconcile: async (key) => (outbox.has(key) ? { status: "done", result: "sent" } : { status: "not-done" }),
});
// #endregion once

const clerk = agent({
  name: "clerk",
  instructions: "Look the order up, refund it, tell the customer.",
  tools: [findOrder, refund, sendMail],
  model: scripted([
    {
      calls: [
        { tool: "find-order", input: { order: "42" } },
        { tool: "refund", input: { order: "42", cents: 1_200 } },
        { tool: "send-mail", input: { to: "full@example.com", text: "Refunded." } },
      ],
    },
    (request) => `The model read: ${results(request).join(", ")}`,
  ]),
});

await using runtime = await createRuntime({ agents: [clerk] });
const run = await runtime.start(clerk, "Refund order 42");
console.log(await run.output());

/** What the model was told of each call, in the order of the calls. */
function results({ messages }: ModelRequest): string[] {
  const parts = messages.flatMap((message) => message.parts).filter((part) => part.type === "tool-result");
  return parts.map(({ result }) => (result.kind === "value" ? (result.say ?? String(result.value)) : result.message));
}
