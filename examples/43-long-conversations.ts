// A long conversation: what a call sends always fits, old messages are summarised once, and everything that was said stays readable.
// expect: 60 turns, 1 model with room for 2000 tokens: at most 1700 were sent; 120 messages are readable; the last call begins with a summary of 103
import { agent, createRuntime, type Model } from "holdfast";

// Any model: it says how much it can read, and counts what it was sent.
let most = 0;
let begins = "";
const model: Model = {
  description: { provider: "example", model: "small", contextWindow: 2_000, maxOutputTokens: 300 },
  async *call({ messages, instructions }) {
    const inputTokens = Math.ceil(JSON.stringify(messages).length / 4);
    const isSummary = instructions.startsWith("Keep");
    if (!isSummary) {
      most = Math.max(most, inputTokens);
      begins = messages[0]?.parts[0]?.type === "text" ? messages[0].parts[0].text : "";
    }
    yield {
      type: "text-delta",
      text: isSummary ? "They talked about the weather." : "It may rain, take a coat with you.",
    };
    yield { type: "finish", reason: "stop", usage: { inputTokens, outputTokens: 10 } };
  },
};

// #region agent
const friend = agent({
  name: "friend",
  model,
  instructions: "Chat.",
  history: {
    tokens: 1_700, // at most; what fits into the model's window unless said
    recent: 4, // the newest messages are sent whole
    compact: { at: 0.7, summaryTokens: 100, instructions: "Keep names, numbers and what was promised." },
  },
});
// #endregion agent

await using runtime = await createRuntime({ agents: [friend] });
for (let turn = 1; turn <= 60; turn += 1) {
  await runtime.run(friend, `Turn ${turn}: how is the weather in Lisbon today?`, { thread: "talk" });
}

// #region read
const said = await runtime.threads.messages("talk", { order: "oldest", limit: 200 }); // all of it, as it was said
const { values } = await runtime.threads.state("talk");
const mark = values["holdfast.history"] as { summary: { text: string; of: { messages: number } } }; // where calls begin now
// #endregion read

const stands = begins.includes(mark.summary.text) ? `a summary of ${mark.summary.of.messages}` : "no summary";
console.log(
  `60 turns, 1 model with room for 2000 tokens: at most ${most <= 1_700 ? 1_700 : most} were sent; ` +
    `${said.items.length} messages are readable; the last call begins with ${stands}`,
);
