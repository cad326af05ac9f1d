/** Every way to a model that speaks HTTP, over a local server of its wire format. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { fromAiSdk, type Model } from "../../../src/index.ts";
import { type OpenAiCompatibleOptions, openaiCompatible } from "../../../src/openai.ts";
import type { PlayedAnswer } from "../../../src/testing/conformance/model-fixtures.ts";
import { anthropicPlay } from "../ai-sdk/anthropic-wire.ts";
import { responsesPlay } from "../ai-sdk/responses-wire.ts";
import { type Dialect, dialects, playOf } from "../openai/dialects.ts";
import { openPlayServer, type Play, type PlayServer } from "../openai/play-server.ts";

interface Described {
  readonly structuredOutput?: boolean;
  readonly toolCalls?: boolean;
}

export interface Wire {
  readonly play: (answer: PlayedAnswer) => Play;
  readonly model: (baseURL: string, description?: Described) => Model;
  /** The field that has the conversation. */
  readonly conversation: "messages" | "input";
}

const apiKey = "sk-wire-4f9d2c71";
const chat = (answer: PlayedAnswer): Play => playOf(answer, dialects.openai as Dialect, apiKey);

const compatible =
  (options: Partial<OpenAiCompatibleOptions>): Wire["model"] =>
  (baseURL, description = {}) =>
    openaiCompatible({ baseURL, model: "m", description, ...options });

export const wires = {
  "openai-compatible": { play: chat, model: compatible({ promptCache: "key" }), conversation: "messages" },
  "openai-compatible, with marks": {
    play: chat,
    model: compatible({ promptCache: "marks" }),
    conversation: "messages",
  },
  "@ai-sdk/anthropic": {
    play: (answer) => anthropicPlay(answer, apiKey),
    model: (baseURL: string, more: Described = {}) =>
      fromAiSdk(createAnthropic({ baseURL, apiKey })("claude-sonnet-4-5"), more),
    conversation: "messages",
  },
  "@ai-sdk/openai, responses": {
    play: (answer) => responsesPlay(answer, apiKey),
    model: (baseURL: string, more: Described = {}) => fromAiSdk(createOpenAI({ baseURL, apiKey })("gpt-5"), more),
    conversation: "input",
  },
  "@ai-sdk/openai, chat completions": {
    play: chat,
    model: (baseURL: string, more: Described = {}) => fromAiSdk(createOpenAI({ baseURL, apiKey }).chat("gpt-4o"), more),
    conversation: "messages",
  },
} satisfies Record<string, Wire>;

export function serve(wire: Wire, answers: readonly PlayedAnswer[]): Promise<PlayServer> {
  return openPlayServer(answers.map(wire.play));
}

/** A body as it was parsed: checks fail where a field is missing. */
export type Body = ReturnType<typeof JSON.parse>;

export function bodiesOf(server: PlayServer): readonly Body[] {
  return server.sent.map(({ body }) => JSON.parse(body));
}
