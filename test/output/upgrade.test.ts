/** N1: how a run is asked for its output is what it was started with, unless it moves. */
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, memory, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import { scripted } from "../../src/testing.ts";
import { output } from "./play.ts";

const value = { note: "refunded", cents: 5 };
const ask = tool({ name: "ask", description: "Ask", input: z.object({}) });

function clerk(requests: ModelRequest[], outputMode: "tool" | "text", onUpgrade: "pinned" | "move" = "pinned") {
  const model = scripted([
    { calls: [{ tool: "ask" }] },
    (request) => {
      requests.push(request);
      const isTool = request.tools.some(({ name }) => name === "holdfast_answer");
      return isTool ? { calls: [{ tool: "holdfast_answer", input: value }] } : JSON.stringify(value);
    },
  ]);
  return agent({ name: "clerk", model, instructions: "Help.", tools: [ask], output, outputMode, onUpgrade });
}

test.each([
  ["tool", "text", "pinned"],
  ["text", "tool", "pinned"],
  ["tool", "text", "move"],
  ["text", "tool", "move"],
] as const)("from %s to %s, %s", async (before, after, onUpgrade) => {
  const requests: ModelRequest[] = [];
  const store = memory();
  const first = await createRuntime({ store, agents: [clerk(requests, before)] });
  const { id } = await first.start(clerk(requests, before), "go");
  await first.runs.get(id).idle();
  await first.close();
  const now = clerk(requests, after, onUpgrade);
  const runtime = await createRuntime({ store, agents: [now], pollMs: 20 });
  onTestFinished(() => runtime.close());
  const [ticket] = await runtime.tickets.list({ status: "open" });
  if (ticket?.kind === "input") await ticket.answer("yes");
  expect(await runtime.runs.get(id, now).result()).toMatchObject({ outcome: "completed", output: value });
  const names = requests[0]?.tools.map(({ name }) => name);
  const mode = onUpgrade === "move" ? after : before;
  expect(names).toEqual(mode === "tool" ? ["ask", "holdfast_answer"] : ["ask"]);
});
