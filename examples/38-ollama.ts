// A model at home: Ollama, without a key. Set OLLAMA_URL to use yours; otherwise a small server stands in for it.
// expect: The order is on its way.
import { agent, createRuntime, tool } from "holdfast";
import { openaiCompatible } from "holdfast/openai";
import { z } from "zod";
import { startChatServer } from "./server/chat-server.ts";

await using standIn = await startChatServer();
const ollamaUrl = process.env["OLLAMA_URL"] ?? standIn.baseURL;

// #region ollama
const ollama = (model: string) =>
  openaiCompatible({
    name: "ollama",
    baseURL: ollamaUrl, // http://localhost:11434/v1
    model,
    description: { contextWindow: 8_192, prices: { inputPerMillion: 0, outputPerMillion: 0 } },
  });

const orderStatus = tool({
  name: "order_status",
  description: "Where an order is",
  input: z.object({ order: z.number() }),
  effect: "pure",
  execute: () => "The order is on its way.",
});

const helper = agent({
  name: "helper",
  instructions: "Help with orders.",
  model: "ollama/qwen3",
  tools: [orderStatus],
});

await using runtime = await createRuntime({
  agents: [helper],
  providers: { ollama },
  limits: { modelIdleMs: 240_000 }, // a cold start is silent for long
});
// #endregion ollama

const result = await runtime.run(helper, "Where is order 7?");
if (result.outcome === "completed") console.log(result.output);
