/** Parts of a reply: what a provider wants back verbatim is stored with them, sent back, and shown to nobody else. */
import { expect, test } from "vitest";
import { z } from "zod";
import type { Message } from "../../src/domain/message.ts";
import { agent, type ModelPart, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import { scripted, testRuntime } from "../../src/testing.ts";

const look = tool({ name: "look", description: "Look", input: z.object({}), effect: "pure", execute: () => "ok" });
const finish: ModelPart = { type: "finish", reason: "tool-calls", usage: { inputTokens: 1, outputTokens: 1 } };
const reply: readonly ModelPart[] = [
  { type: "reasoning-delta", text: "first" },
  { type: "reasoning-delta", text: "", metadata: { vendor: { signature: "s1" } } },
  { type: "reasoning-delta", text: "", begins: true, metadata: { vendor: { redacted: "abc" } } },
  { type: "text-delta", text: "one", metadata: { vendor: { id: "t1", kept: true } } },
  { type: "ping" },
  { type: "text-delta", text: "+", metadata: { vendor: { id: "t2" }, else: {} } },
  { type: "text-delta", text: "two", begins: true },
  { type: "tool-input-delta", index: 0, tool: "look", text: "" },
  { type: "tool-call", alias: "c", tool: "look", inputText: "{}", metadata: { vendor: { thought: "xyz" } } },
  finish,
];

test("blocks stay apart, signatures and other metadata stay with their own, and the next call sees them", async () => {
  const seen: (readonly Message[])[] = [];
  const last = ({ messages }: ModelRequest): string => {
    seen.push(messages);
    return "Done.";
  };
  const one = agent({ name: "a", model: scripted([{ parts: reply }, last]), instructions: "Look.", tools: [look] });
  await using t = await testRuntime({ agents: [one] });
  const run = await t.runtime.start(one, "go");
  const told: unknown[] = [];
  for await (const event of run.watch({ until: "end" })) told.push(event);
  expect(await run.output()).toBe("Done.");
  expect(seen[0]?.find(({ role }) => role === "assistant")?.parts).toEqual([
    { type: "reasoning", text: "first", metadata: { vendor: { signature: "s1" } } },
    { type: "reasoning", text: "", metadata: { vendor: { redacted: "abc" } } },
    { type: "text", text: "one+", metadata: { vendor: { id: "t2", kept: true }, else: {} } },
    { type: "text", text: "two" },
    {
      type: "tool-call",
      call: expect.any(String),
      tool: "look",
      input: { kind: "json", value: {} },
      alias: "c",
      metadata: { vendor: { thought: "xyz" } },
    },
  ]);
  const deltas = told.filter((event) => String((event as { type: string }).type).endsWith("-delta"));
  expect(deltas.length).toBeGreaterThan(4);
  for (const delta of deltas) {
    expect(delta).not.toHaveProperty("metadata");
    expect(delta).not.toHaveProperty("begins");
  }
});
