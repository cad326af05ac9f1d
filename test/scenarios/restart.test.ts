import { expect, test } from "vitest";
import { z } from "zod";
import { agent, memory, tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";

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
  model: scripted([{ calls: [{ tool: "refund", input: { order: "42", cents: 8_000 } }] }, "Refunded."]),
  instructions: "Resolve refund requests politely.",
  tools: [refund],
});

test("an approval survives a restart and three days", async () => {
  await using t = await testRuntime({ agents: [support], store: memory() });
  const { id } = await t.runtime.start(support, "Refund order 42, $80");
  expect((await t.runtime.runs.get(id).idle()).status).toBe("waiting");
  await t.restart();
  await t.advance("3d");
  const [ticket] = await t.runtime.tickets.list({ tool: refund, status: "open" });
  if (ticket?.kind !== "approval") throw new Error("no approval ticket");
  expect(await ticket.approve({ by: "ana" })).toMatchObject({ by: "ana", mine: true });
  expect(await t.runtime.runs.get(id, support).result()).toMatchObject({ outcome: "completed", output: "Refunded." });
  expect(t.effects(refund)).toHaveLength(1);
});
