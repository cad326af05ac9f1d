/** Language models of the AI SDK written by hand: what the specifications say, and nothing of any package. */
import type { ErrorCode } from "../../../src/domain/errors.ts";
import { type AiSdkModel, fromAiSdk } from "../../../src/index.ts";
import type { PlayedAnswer, PlayedReply, PlayModel } from "../../../src/testing/conformance/model-fixtures.ts";

export type Version = AiSdkModel["specificationVersion"];

export interface Streamed {
  readonly parts: readonly unknown[];
  /** After the last part: the stream ends, fails, or nothing more happens. */
  readonly after?: "end" | "hang" | Error;
}

export interface Asked {
  readonly [name: string]: unknown;
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
}

export interface ObjectModel extends AiSdkModel {
  /** What it was called with. */
  readonly asked: readonly Asked[];
  /** Streams that were left before their end. */
  readonly left: () => number;
}

/** Answers by the next of these; the last one stays. A function throws, or gives what it likes. */
export function objectModel(version: Version, answers: readonly (Streamed | (() => unknown))[]): ObjectModel {
  const asked: Asked[] = [];
  let left = 0;
  return {
    specificationVersion: version,
    provider: "hand.written",
    modelId: "m",
    asked,
    left: () => left,
    async doStream(options: Asked) {
      asked.push(options);
      const answer = answers[Math.min(asked.length, answers.length) - 1];
      if (typeof answer === "function") return answer();
      return { stream: streamOf(answer ?? { parts: [] }, () => (left += 1)) };
    },
  };
}

export function streamOf({ parts, after = "end" }: Streamed, onLeft: () => void = () => undefined): ReadableStream {
  const rest = [...parts];
  return new ReadableStream({
    pull(controller) {
      if (rest.length > 0) controller.enqueue(rest.shift());
      else if (after === "end") controller.close();
      else if (after === "hang") return new Promise(() => undefined);
      else controller.error(after);
      return undefined;
    },
    cancel: onLeft,
  });
}

/** The checks' answers, played by an object. */
export function playObject(version: Version): PlayModel {
  return async (answers) => {
    const model = objectModel(
      version,
      answers.map((answer) => answerOf(answer, version)),
    );
    return {
      model: fromAiSdk(model),
      key: keyOfObjects,
      get sent() {
        return model.asked.map(({ abortSignal: _, ...rest }) => JSON.stringify(rest));
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  };
}

const keyOfObjects = "sk-object-2b8f61c09d3e";

function answerOf(answer: PlayedAnswer, version: Version): Streamed | (() => unknown) {
  if ("fails" in answer) {
    const { fails, retryAfterMs } = answer;
    return () => {
      throw callError(fails, retryAfterMs);
    };
  }
  if ("cutAfter" in answer || "silentAfter" in answer) {
    const text = "cutAfter" in answer ? answer.cutAfter : answer.silentAfter;
    const lost = Object.assign(new TypeError("terminated"), { cause: { code: "UND_ERR_SOCKET" } });
    return { parts: wholeParts({ text }).slice(0, -2), after: "cutAfter" in answer ? lost : "hang" };
  }
  return { parts: wholeParts(answer, version) };
}

const statuses: Partial<Record<ErrorCode, readonly [number, string]>> = {
  "model-unauthorized": [401, "invalid x-api-key"],
  "model-not-found": [404, "no such model"],
  "model-refused": [400, "temperature must be below 2"],
  "model-context-overflow": [400, "prompt is too long: 210000 tokens"],
  "model-rate-limited": [429, "slow down"],
  "model-overloaded": [529, "Overloaded"],
  "model-failed": [500, "Internal error"],
};

/** An APICallError by its shape, from a copy of the package that nobody else has. */
function callError(code: ErrorCode, retryAfterMs: number | undefined): Error {
  const [statusCode, message] = statuses[code] ?? [500, ""];
  return Object.assign(new Error(`${message} (key ${keyOfObjects})`), {
    name: "AI_APICallError",
    url: `https://api.example.test/v1/messages?key=${keyOfObjects}`,
    statusCode,
    isRetryable: statusCode === 429 || statusCode >= 500,
    responseHeaders: retryAfterMs === undefined ? {} : { "retry-after": String(retryAfterMs / 1_000) },
    responseBody: JSON.stringify({ error: { message } }),
    requestBodyValues: { secret: keyOfObjects },
  });
}

function dataOf(url: string, version: Version): unknown {
  const data = url.slice(url.indexOf(",") + 1);
  return version === "v3" ? data : { type: "data", data };
}

export function wholeParts(reply: PlayedReply, version: Version = "v4"): readonly unknown[] {
  const { reasoning, text, files = [], calls = [], usage = { inputTokens: 1, outputTokens: 1 }, pieces = 4 } = reply;
  const { finish = calls.length > 0 ? "tool-calls" : "stop" } = reply;
  return [
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", id: "r1", modelId: "m" },
    ...block("reasoning", reasoning, pieces),
    ...block("text", text, pieces),
    ...files.map(({ mediaType, url }) => ({ type: "file", mediaType, data: dataOf(url, version) })),
    ...calls.flatMap(({ tool, inputText }, index) => [
      { type: "tool-input-start", id: `c${index}`, toolName: tool },
      ...slices(inputText, pieces).map((delta) => ({ type: "tool-input-delta", id: `c${index}`, delta })),
      { type: "tool-input-end", id: `c${index}` },
      { type: "tool-call", toolCallId: `c${index}`, toolName: tool, input: inputText },
    ]),
    {
      type: "finish",
      finishReason: { unified: finish, raw: `raw ${finish}` },
      usage: usage
        ? {
            inputTokens: { total: usage.inputTokens, cacheRead: usage.cacheReadTokens },
            outputTokens: { total: usage.outputTokens, reasoning: usage.reasoningTokens },
          }
        : { inputTokens: {}, outputTokens: {} },
    },
  ];
}

function block(type: "text" | "reasoning", text: string | undefined, pieces: number): readonly unknown[] {
  if (text === undefined) return [];
  const deltas = slices(text, pieces).map((delta) => ({ type: `${type}-delta`, id: "0", delta }));
  return [{ type: `${type}-start`, id: "0" }, ...deltas, { type: `${type}-end`, id: "0" }];
}

export function slices(text: string, size: number): readonly string[] {
  const found: string[] = [];
  for (let from = 0; from < text.length; from += size) found.push(text.slice(from, from + size));
  return found;
}
