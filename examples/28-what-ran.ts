// Two runs of one agent gave different answers. What decided each of them, and what differs.
// expect: the agent's version: "1" → "2" | the instructions: "Be polite." → "Be brief." | the input schema of tool refund: 10000 → 5000
import { agent, createRuntime, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const model = scripted(["Done."]);
function refund(most: number) {
  const input = z.object({ cents: z.number().max(most) });
  return tool({ name: "refund", description: "Refund an order", input, execute: () => "refunded" });
}

// #region agents
const monday = agent({ name: "support", model, instructions: "Be polite.", tools: [refund(10_000)] });
const friday = agent({ name: "support", version: "2", model, instructions: "Be brief.", tools: [refund(5_000)] });

await using runtime = await createRuntime({ agents: [monday, friday] });
// #endregion agents
const one = await runtime.start(monday, "Hello");
const two = await runtime.start(friday, "Hello");
await Promise.all([one.result(), two.result()]);

// #region diff
const { fingerprint, declared } = await runtime.runs.manifest(one.id); // what decided its behaviour, as data
const differences = await runtime.runs.diff(one.id, two.id);
const lines = differences.map(({ what, a, b }) => `${what}: ${JSON.stringify(a)} → ${JSON.stringify(b)}`);
// #endregion diff

if (fingerprint !== runtime.manifest(monday).fingerprint || declared.agent !== "support")
  throw new Error("another one");
console.log(lines.join(" | "));
