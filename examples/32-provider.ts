// A model behind a vendor's HTTP API, given to an agent as it is and named by its route.
// expect: The order is on its way. 50 tokens, 24 of 40 read from the cache. A wrong key: model-unauthorized.
import { agent, createRuntime, secret, tool } from "holdfast";
import { openaiCompatible } from "holdfast/openai";
import { z } from "zod";
import { startChatServer } from "./server/chat-server.ts";

await using vendor = await startChatServer({ key: "sk-demo" }); // in place of a real one
const { baseURL } = vendor; // such as https://api.openai.com/v1
const apiKey = secret(process.env["VENDOR_API_KEY"] ?? "sk-demo");

const orderStatus = tool({
  name: "order_status",
  description: "Where an order is",
  input: z.object({ order: z.number() }),
  effect: "pure",
  execute: () => "The order is on its way.",
});

// #region model
const model = openaiCompatible({
  baseURL,
  model: "gpt-x",
  apiKey, // a string, a secret, or a function that is asked before every call
  name: "openai", // what manifests and errors call it
  description: {
    contextWindow: 128_000,
    maxOutputTokens: 16_000,
    accepts: ["text", "image"],
    structuredOutput: true,
    prices: { inputPerMillion: 2, cacheReadPerMillion: 0.5, outputPerMillion: 8 },
  },
  settings: { temperature: 0 }, // fields of every request, by the vendor's own names
});

const support = agent({ name: "support", instructions: "Help with orders.", model, tools: [orderStatus] });
// #endregion model

// #region route
const desk = agent({ name: "desk", instructions: "Help with orders.", model: "openai/gpt-x", tools: [orderStatus] });

await using runtime = await createRuntime({
  agents: [support, desk],
  providers: {
    openai: (name) => openaiCompatible({ baseURL, apiKey, model: name, name: "openai" }),
  },
});
// #endregion route

const result = await runtime.run(support, "Where is order 7?");
const { outcome } = await runtime.run(desk, "And order 8?");

const stranger = openaiCompatible({ baseURL, model: "gpt-x", apiKey: "sk-wrong" });
const locked = agent({ name: "locked", instructions: "", model: stranger });
await using other = await createRuntime({ agents: [locked] });
const refused = await other.run(locked, "Hello?");

if (result.outcome === "completed" && outcome === "completed" && refused.outcome === "failed") {
  const { inputTokens, outputTokens, cacheReadTokens } = result.usage;
  const counted = `${inputTokens + outputTokens} tokens, ${cacheReadTokens} of ${inputTokens} read from the cache.`;
  console.log(`${result.output} ${counted} A wrong key: ${refused.error.code}.`);
}
