// Prompt caches: what comes again in the next request is marked, so that the vendor reads it from its cache.
// expect: 3 requests, 2 of them begin with the one before; marks: 3, 4, 4; 1200 of 1260 tokens came from the cache.
import { createAnthropic } from "@ai-sdk/anthropic";
import { agent, createRuntime, fromAiSdk, plugin, tool } from "holdfast";
import { openaiCompatible } from "holdfast/openai";
import { z } from "zod";
import { messagesServer } from "./server/messages-server.ts";

// A stand-in for the vendor, so that this runs offline. Without it: import { anthropic } from "@ai-sdk/anthropic".
await using vendor = await messagesServer([
  [{ type: "tool_use", id: "toolu_1", name: "order_status", input: { order: 7 } }],
  [{ type: "tool_use", id: "toolu_2", name: "order_status", input: { order: 8 } }],
  [{ type: "text", text: "Both are on their way." }],
]);
const anthropic = createAnthropic({ baseURL: vendor.baseURL, apiKey: "not-needed-here" });

const orderStatus = tool({
  name: "order_status",
  description: "Where an order is",
  input: z.object({ order: z.number() }),
  effect: "pure",
  execute: ({ order }) => `Order ${order} is on its way.`,
});

// #region models
const claude = anthropic("claude-sonnet-4-5"); // its marks are set without a word

const onceOnly = fromAiSdk(claude, { promptCache: "none" }); // asked once and never again: nothing to keep

const router = openaiCompatible({
  baseURL: "https://openrouter.ai/api/v1",
  model: "anthropic/claude-sonnet-4.5",
  name: "openrouter",
  promptCache: "marks",
});
// #endregion models

// #region clock
const clock = plugin({
  name: "clock",
  version: "1",
  create: () => ({
    hooks: {
      // Other words in every step: after the newest message, where nothing that is cached comes behind them.
      "before-step": ({ now }) => [{ type: "add-context", key: "time", text: `It is ${now}.`, target: "suffix" }],
    },
  }),
});
// #endregion clock

const support = agent({
  name: "support",
  instructions: "Help with orders.",
  model: claude,
  tools: [orderStatus],
  plugins: [clock()],
});
const titles = agent({ name: "titles", instructions: "Find a title.", model: onceOnly });
const desk = agent({ name: "desk", instructions: "Help with orders.", model: router });

await using runtime = await createRuntime({ agents: [support, titles, desk] });
// #region usage
const { usage } = await runtime.run(support, "Where are orders 7 and 8?", { thread: "t-1" });
const counted = `${usage.cacheReadTokens} of ${usage.inputTokens} tokens came from the cache.`;
// #endregion usage

/** Without the marks, which are no part of what is cached, and without the clock, which comes after it. */
const sent = vendor.requests.map(({ messages }) =>
  JSON.stringify(messages)
    .replaceAll(',"cache_control":{"type":"ephemeral"}', "")
    .replace(/,\{"type":"text","text":"<system>.*/, ""),
);
const shared = sent.filter((body, at) => at > 0 && body.startsWith(sent[at - 1] ?? "")).length;
const marks = vendor.requests.map((body) => JSON.stringify(body).split("cache_control").length - 1);
console.log(
  `${sent.length} requests, ${shared} of them begin with the one before; marks: ${marks.join(", ")}; ${counted}`,
);
