/** Replies and refusals of OpenAI's responses API, as its servers write them. */
import type { ErrorCode } from "../../../src/domain/errors.ts";
import type { PlayedAnswer, PlayedReply } from "../../../src/testing/conformance/model-fixtures.ts";
import type { Play } from "../openai/play-server.ts";
import { event } from "./anthropic-wire.ts";
import { slices } from "./objects.ts";

export const encrypted = "gAAAAABENCRYPTED==";

export function responsesEvents(reply: PlayedReply): readonly string[] {
  const { reasoning, text, calls = [], pieces = 4, finish } = reply;
  const response = { id: "resp_1", created_at: 1, model: "m" };
  const items = [
    ...(reasoning === undefined ? [] : [reasoningItem(reasoning, pieces)]),
    ...(text === undefined ? [] : [messageItem(text, pieces)]),
    ...calls.map((call, at) => callItem(call, at, pieces)),
  ];
  const reasons: Readonly<Record<string, string>> = {
    length: "max_output_tokens",
    "content-filter": "content_filter",
    other: "gone_fishing",
  };
  const reason = reasons[finish ?? ""];
  return [
    event({ type: "response.created", response }),
    ...items.flatMap((item, output_index) => [
      event({ type: "response.output_item.added", output_index, item: item.begun }),
      ...item.between.map((part) => event({ ...part, output_index })),
      event({ type: "response.output_item.done", output_index, item: item.done }),
    ]),
    event({
      type: reason ? "response.incomplete" : "response.completed",
      response: {
        ...response,
        incomplete_details: reason ? { reason } : null,
        usage: usageOf(reply),
      },
    }),
  ];
}

function usageOf({ usage = { inputTokens: 1, outputTokens: 1 } }: PlayedReply): object | null {
  return (
    usage && {
      input_tokens: usage.inputTokens,
      input_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
      output_tokens: usage.outputTokens,
      output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    }
  );
}

interface Item {
  readonly begun: object;
  readonly between: readonly { readonly type: string }[];
  readonly done: object;
}

function reasoningItem(text: string, pieces: number): Item {
  const item = { type: "reasoning", id: "rs_1", summary: [] };
  const place = { item_id: "rs_1", summary_index: 0 };
  return {
    begun: { ...item, encrypted_content: null },
    between: [
      { type: "response.reasoning_summary_part.added", ...place, part: { type: "summary_text", text: "" } } as never,
      ...slices(text, pieces).map((delta) => ({ type: "response.reasoning_summary_text.delta", ...place, delta })),
      { type: "response.reasoning_summary_part.done", ...place, part: { type: "summary_text", text } } as never,
    ],
    done: { ...item, encrypted_content: encrypted, summary: [{ type: "summary_text", text }] },
  };
}

function messageItem(text: string, pieces: number): Item {
  const item = { type: "message", id: "msg_1", role: "assistant" };
  return {
    begun: { ...item, status: "in_progress", content: [] },
    between: slices(text, pieces).map((delta) => ({
      type: "response.output_text.delta",
      item_id: "msg_1",
      content_index: 0,
      delta,
    })),
    done: { ...item, status: "completed", content: [{ type: "output_text", text, annotations: [] }] },
  };
}

function callItem(call: { readonly tool: string; readonly inputText: string }, at: number, pieces: number): Item {
  const item = { type: "function_call", id: `fc_${at}`, call_id: `call_${at}x`, name: call.tool };
  return {
    begun: { ...item, arguments: "" },
    between: slices(call.inputText, pieces).map((delta) => ({
      type: "response.function_call_arguments.delta",
      item_id: item.id,
      delta,
    })),
    done: { ...item, arguments: call.inputText, status: "completed" },
  };
}

const refusals: Partial<Record<ErrorCode, readonly [number, string, string]>> = {
  "model-unauthorized": [401, "invalid_api_key", "Incorrect API key provided:"],
  "model-not-found": [404, "model_not_found", "The model `m` does not exist"],
  "model-refused": [400, "invalid_value", "Invalid 'temperature'"],
  "model-context-overflow": [400, "context_length_exceeded", "Your input exceeds the context window of this model"],
  "model-rate-limited": [429, "rate_limit_exceeded", "Rate limit reached"],
  "model-overloaded": [503, "server_overloaded", "The engine is currently overloaded"],
  "model-failed": [500, "server_error", "The server had an error"],
};

export function responsesPlay(answer: PlayedAnswer, key = ""): Play {
  if ("fails" in answer) {
    const [status, code, message] = refusals[answer.fails] ?? [500, "server_error", ""];
    const wait = answer.retryAfterMs === undefined ? {} : { "retry-after": String(answer.retryAfterMs / 1_000) };
    const body = { error: { message: `${message} ${key}`, type: "invalid_request_error", param: null, code } };
    return { status, headers: { "content-type": "application/json", ...wait }, chunks: [JSON.stringify(body)] };
  }
  if ("cutAfter" in answer || "silentAfter" in answer) {
    const text = "cutAfter" in answer ? answer.cutAfter : answer.silentAfter;
    return {
      chunks: responsesEvents({ text, pieces: 100 }).slice(0, 3),
      after: "cutAfter" in answer ? "cut" : "hang",
    };
  }
  return { chunks: responsesEvents(answer) };
}
