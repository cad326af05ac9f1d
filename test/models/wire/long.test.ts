/** A run longer than its window, on the wire: requests share their beginning byte for byte, except where the window moves. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, tool } from "../../../src/index.ts";
import { serve, type Wire, wires } from "./wires.ts";

const steps = 40;

const read = tool({
  name: "read",
  description: "Reads a page",
  input: z.object({ page: z.number() }),
  effect: "pure",
  execute: ({ page }) => `Page ${page}: ${"words and words ".repeat(12)}`,
});

const marked = ',"cache_control":{"type":"ephemeral"}';

test.each(Object.entries<Wire>(wires))("%s", async (_, wire) => {
  const reads = Array.from({ length: steps }, (_, page) => ({
    calls: [{ tool: "read", inputText: JSON.stringify({ page }) }],
  }));
  await using server = await serve(wire, [...reads, { text: "Read." }]);
  const model = wire.model(server.baseURL);
  const history = { tokens: 1_500, recent: 4 };
  const reader = agent({
    name: "reader",
    instructions: "Read.",
    model,
    tools: [read],
    history,
    budget: { steps: 100 },
  });
  await using runtime = await createRuntime({ agents: [reader] });
  const run = await runtime.start(reader, "Read the book.");
  expect(await run.output()).toBe("Read.");
  let moves = 0;
  for await (const { type } of run.watch()) moves += Number(type === "context-projected");
  const sent = server.sent.map(({ body }) =>
    JSON.stringify(JSON.parse(body.replaceAll(marked, ""))[wire.conversation]),
  );
  const breaks = sent.filter((bytes, at) => !bytes.startsWith(sent[at - 1]?.slice(0, -1) ?? "["));
  expect(sent).toHaveLength(steps + 1);
  expect(breaks).toHaveLength(moves);
  expect(moves).toBeGreaterThan(1);
  expect(moves).toBeLessThan(steps / 5);
});
