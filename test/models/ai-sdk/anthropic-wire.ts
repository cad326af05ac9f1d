/** Replies and refusals of Anthropic's messages API, as its servers write them. */
import type { FinishReason } from "../../../src/domain/entry.ts";
import type { ErrorCode } from "../../../src/domain/errors.ts";
import type { PlayedAnswer, PlayedReply } from "../../../src/testing/conformance/model-fixtures.ts";
import type { Play } from "../openai/play-server.ts";
import { slices } from "./objects.ts";

export const signature = "EqQBCgIYAhIkSIGNATURE+/==";

const stopReasons: Partial<Record<FinishReason, string>> = {
  stop: "end_turn",
  "tool-calls": "tool_use",
  length: "max_tokens",
  "content-filter": "refusal",
  other: "gone_fishing",
};

export interface AnthropicReply extends PlayedReply {
  /** Of blocks that are encrypted whole. */
  readonly redacted?: string;
  readonly cacheWrite?: number;
}

export function event(data: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

export function anthropicEvents(reply: AnthropicReply): readonly string[] {
  const { reasoning, redacted, text, calls = [], pieces = 4, cacheWrite = 0 } = reply;
  const { finish = calls.length > 0 ? "tool-calls" : "stop" } = reply;
  const {
    inputTokens,
    outputTokens,
    cacheReadTokens = 0,
    reasoningTokens,
  } = reply.usage ?? {
    inputTokens: 1,
    outputTokens: 1,
  };
  const blocks = [
    ...(reasoning === undefined ? [] : [thinking(reasoning, pieces)]),
    ...(redacted === undefined ? [] : [{ start: { type: "redacted_thinking", data: redacted }, deltas: [] }]),
    ...(text === undefined ? [] : [textBlock(text, pieces)]),
    ...calls.map((call, at) => toolUse(call, at, pieces)),
  ];
  const usage = {
    input_tokens: inputTokens - cacheReadTokens - cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: 1,
  };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    usage,
  };
  return [
    event({ type: "message_start", message }),
    event({ type: "ping" }),
    ...blocks.flatMap(({ start, deltas }, index) => [
      event({ type: "content_block_start", index, content_block: start }),
      ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
      event({ type: "content_block_stop", index }),
    ]),
    event({
      type: "message_delta",
      delta: { stop_reason: stopReasons[finish], stop_sequence: null },
      usage: {
        output_tokens: outputTokens,
        ...(reasoningTokens === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoningTokens } }),
      },
    }),
    event({ type: "message_stop" }),
  ];
}

interface Block {
  readonly start: object;
  readonly deltas: readonly object[];
}

function thinking(text: string, pieces: number): Block {
  const deltas = slices(text, pieces).map((thinking) => ({ type: "thinking_delta", thinking }));
  return {
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [...deltas, { type: "signature_delta", signature }],
  };
}

function textBlock(text: string, pieces: number): Block {
  return {
    start: { type: "text", text: "" },
    deltas: slices(text, pieces).map((text) => ({ type: "text_delta", text })),
  };
}

function toolUse(call: { readonly tool: string; readonly inputText: string }, at: number, pieces: number): Block {
  const deltas = slices(call.inputText, pieces).map((json) => ({ type: "input_json_delta", partial_json: json }));
  return { start: { type: "tool_use", id: `toolu_0${at}`, name: call.tool, input: {} }, deltas };
}

const refusals: Partial<Record<ErrorCode, readonly [number, string, string]>> = {
  "model-unauthorized": [401, "authentication_error", "invalid x-api-key"],
  "model-not-found": [404, "not_found_error", "model: m"],
  "model-refused": [400, "invalid_request_error", "temperature: range: 0..1"],
  "model-context-overflow": [400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"],
  "model-rate-limited": [429, "rate_limit_error", "This request would exceed your organization's rate limit"],
  "model-overloaded": [529, "overloaded_error", "Overloaded"],
  "model-failed": [500, "api_error", "Internal server error"],
};

export function anthropicPlay(answer: PlayedAnswer, key = ""): Play {
  if ("fails" in answer) {
    const [status, type, message] = refusals[answer.fails] ?? [500, "api_error", ""];
    const wait = answer.retryAfterMs === undefined ? {} : { "retry-after": String(answer.retryAfterMs / 1_000) };
    const body = { type: "error", error: { type, message: `${message} ${key}` }, request_id: "req_1" };
    return { status, headers: { "content-type": "application/json", ...wait }, chunks: [JSON.stringify(body)] };
  }
  if ("cutAfter" in answer || "silentAfter" in answer) {
    const text = "cutAfter" in answer ? answer.cutAfter : answer.silentAfter;
    return {
      chunks: anthropicEvents({ text, pieces: 100 }).slice(0, 4),
      after: "cutAfter" in answer ? "cut" : "hang",
    };
  }
  return { chunks: anthropicEvents(answer) };
}
