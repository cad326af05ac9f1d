/** Models of the AI SDK against the checks of every provider: objects by hand, and the real packages over local servers. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { describe, test } from "vitest";
import { type AiSdkModel, fromAiSdk } from "../../src/index.ts";
import { modelConformance } from "../../src/testing/conformance/model-conformance.ts";
import type { PlayedAnswer, PlayModel } from "../../src/testing/conformance/model-fixtures.ts";
import { anthropicPlay } from "../models/ai-sdk/anthropic-wire.ts";
import { playObject } from "../models/ai-sdk/objects.ts";
import { responsesPlay } from "../models/ai-sdk/responses-wire.ts";
import { type Dialect, dialects, playOf } from "../models/openai/dialects.ts";
import { openPlayServer, type Play } from "../models/openai/play-server.ts";

const apiKey = "sk-conformance-4f9d2c71";

function overHttp(toPlay: (answer: PlayedAnswer) => Play, modelAt: (baseURL: string) => AiSdkModel): PlayModel {
  return async (answers) => {
    const server = await openPlayServer(answers.map(toPlay));
    return {
      model: fromAiSdk(modelAt(server.baseURL), { onWarning: () => undefined }),
      key: apiKey,
      get sent() {
        return server.sent.map(({ body }) => body);
      },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  };
}

const chat = dialects.openai as Dialect;

const providers: Record<string, PlayModel> = {
  "an object of specification v3": playObject("v3"),
  "an object of specification v4": playObject("v4"),
  "@ai-sdk/anthropic": overHttp(
    (answer) => anthropicPlay(answer, apiKey),
    (baseURL) => createAnthropic({ baseURL, apiKey })("claude-sonnet-4-5"),
  ),
  "@ai-sdk/openai, responses": overHttp(
    (answer) => responsesPlay(answer, apiKey),
    (baseURL) => createOpenAI({ baseURL, apiKey })("gpt-5"),
  ),
  "@ai-sdk/openai, chat completions": overHttp(
    (answer) => playOf(answer, chat, apiKey),
    (baseURL) => createOpenAI({ baseURL, apiKey }).chat("gpt-4o"),
  ),
};

const noFiles = "a file that the model has made comes whole, after the text before it";

/** What a wire format, or its package, cannot say. Each is run all the same: when it passes one day, it goes from here. */
const unable: Record<string, readonly string[]> = {
  "@ai-sdk/anthropic": ["a count that is missing is missing, not 0", noFiles], // the messages API always counts
  "@ai-sdk/openai, responses": [noFiles], // its images come from a tool that the provider runs itself
  "@ai-sdk/openai, chat completions": ["reasoning is told apart from text", noFiles], // OpenAI's own have no thoughts in there
};

for (const [name, play] of Object.entries(providers)) {
  describe(name, () => {
    for (const [fact, check] of Object.entries(modelConformance)) {
      if (unable[name]?.includes(fact)) test.fails(fact, () => check(play));
      else test(fact, () => check(play));
    }
  });
}
