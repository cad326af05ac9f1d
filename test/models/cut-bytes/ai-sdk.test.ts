/** Y1–Y3 by bytes: Anthropic's messages and OpenAI's chat completions, through the real packages of the AI SDK. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { expect, test } from "vitest";
import { createRuntime, fromAiSdk, memory, textOf } from "../../../src/index.ts";
import { anthropicEvents } from "../ai-sdk/anthropic-wire.ts";
import { playCuts, type Vendor } from "./campaign.ts";
import { chatWire } from "./chat-wire.ts";
import { firstReply, openCutServer, said, type Way, wanted } from "./cut-server.ts";
import type { Said } from "./oracle.ts";
import { type Acted, clerkOf, inParallel, play } from "./play-cut.ts";

interface Body {
  readonly messages: readonly {
    readonly role: string;
    readonly content: readonly { readonly type: string; readonly text?: string }[];
  }[];
}

interface Event {
  readonly type: string;
  readonly index?: number;
  readonly delta?: { readonly text?: string };
}

/** A call is finished when its block is; the text is the block before them. */
function read(data: unknown): Said {
  const { type, index = 0, delta } = data as Event;
  if (type === "content_block_stop") return { calls: index };
  return { text: delta?.text ?? "", isDone: type === "message_stop", isError: type === "error" };
}

const vendor: Vendor = {
  wire: {
    events: (reply) => anthropicEvents(reply),
    seen(body) {
      const { messages } = JSON.parse(body) as Body;
      const asked = messages[0]?.content[0]?.text ?? "";
      const results = messages.flatMap(({ content }) => content).filter(({ type }) => type === "tool_result").length;
      const [before, last] = messages.slice(-2);
      const goesOn = before?.role === "assistant" && last?.content.every(({ type }) => type === "text");
      return { asked, results, ...(goesOn ? { said: before.content.map(({ text }) => text).join("") } : {}) };
    },
  },
  reading: { read, isLenient: false },
  model: ({ baseURL, fetch }) =>
    fromAiSdk(createAnthropic({ baseURL, apiKey: "sk-ant-0", fetch })("claude-sonnet-4-5")),
};

const failure = JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });
const ways: Readonly<Record<string, Way>> = {
  "the connection is reset": { after: "reset" },
  "the stream just ends": { after: "end" },
  "the server says an error": { after: "end", more: `\n\nevent: error\ndata: ${failure}\n\n` },
};

test.each(Object.entries(ways))(
  "%s: whole calls run once, and the text is what was shown",
  { timeout: 600_000 },
  async (_, way) => {
    const { wentOn, someCalls } = await playCuts(vendor, { way, every: 331, around: [0] });
    expect([wentOn > 0, someCalls > 0]).toEqual([true, true]);
  },
);

test("the stream just ends: what the package of OpenAI gives out of a call that is not whole never runs", async () => {
  await using server = await openCutServer(chatWire);
  const { baseURL, fetch } = server;
  const acted: Acted = new Map();
  const clerk = clerkOf(fromAiSdk(createOpenAI({ baseURL, apiKey: "sk-0", fetch }).chat("gpt-5")), acted);
  await using runtime = await createRuntime({ agents: [clerk], store: memory() });
  const events = chatWire.events(firstReply);
  await inParallel([...events.keys()], 40, async (count) => {
    const at = Buffer.byteLength(events.slice(0, count).join(""));
    server.cut(`cut-${at}`, { at, way: { after: "end" } });
    const played = await play({ runtime, clerk, acted, server }, `cut-${at}`);
    const text = played.messages.map(textOf).join("");
    expect({ ...played, text }, `after ${count} events`).toMatchObject({
      outcome: "completed",
      acted: wanted,
      text: `${said}Done.`,
    });
  });
});
