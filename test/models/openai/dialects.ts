/**
 * How vendors say the same thing in chat completions. Written after their documentation and the issue threads of their
 * users; each dialect has the oddities that its name is known for.
 */
import type { FinishReason } from "../../../src/domain/entry.ts";
import type { ErrorCode } from "../../../src/domain/errors.ts";
import type { Usage } from "../../../src/domain/run.ts";
import type { PlayedAnswer, PlayedReply } from "../../../src/testing/conformance/model-fixtures.ts";
import type { Play } from "./play-server.ts";

type Call = { readonly tool: string; readonly inputText: string };

export interface Dialect {
  readonly reasoning: string;
  readonly calls: (calls: readonly Call[], pieces: number) => readonly object[];
  readonly finish: Readonly<Partial<Record<FinishReason, string>>>;
  readonly usage: (usage: Usage) => object;
  /** Where the count goes: a chunk of its own, or the one that finishes. */
  readonly usageIn: "own" | "finish";
  readonly done: boolean;
  readonly lineEnd: string;
  readonly prefix: string;
  /** Sent between chunks. */
  readonly comment?: string;
}

const words: Dialect["finish"] = {
  stop: "stop",
  "tool-calls": "tool_calls",
  length: "length",
  "content-filter": "content_filter",
  other: "gone_fishing",
};

function openaiUsage(usage: Usage): object {
  const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cacheReadTokens ?? 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoningTokens ?? 0, audio_tokens: 0 },
  };
}

export function slices(text: string, size: number): readonly string[] {
  const found: string[] = [];
  for (let from = 0; from < text.length; from += size) found.push(text.slice(from, from + size));
  return found;
}

/** A start with id and name, then pieces of the arguments by index. */
function piecewise(calls: readonly Call[], pieces: number): readonly object[] {
  return calls.flatMap(({ tool, inputText }, index) => [
    { tool_calls: [{ index, id: `call_${index}x`, type: "function", function: { name: tool, arguments: "" } }] },
    ...slices(inputText, pieces).map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
  ]);
}

const openai: Dialect = {
  reasoning: "reasoning_content",
  calls: piecewise,
  finish: words,
  usage: openaiUsage,
  usageIn: "own",
  done: true,
  lineEnd: "\n",
  prefix: "data: ",
};

export const dialects: Readonly<Record<string, Dialect>> = {
  openai,
  deepseek: {
    ...openai,
    usageIn: "finish",
    prefix: "data:",
    usage: ({ inputTokens, outputTokens, cacheReadTokens = 0, reasoningTokens = 0 }) => ({
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      prompt_cache_hit_tokens: cacheReadTokens,
      prompt_cache_miss_tokens: inputTokens - cacheReadTokens,
      completion_tokens_details: { reasoning_tokens: reasoningTokens },
    }),
  },
  openrouter: { ...openai, reasoning: "reasoning", comment: ": OPENROUTER PROCESSING", lineEnd: "\r\n" },
  "ollama (whole calls, all with index 0, and stop)": {
    ...openai,
    reasoning: "reasoning",
    finish: { ...words, "tool-calls": "stop" },
    calls: (calls) =>
      calls.map(({ tool, inputText }, at) => ({
        tool_calls: [{ index: 0, id: `call_${at}o`, type: "function", function: { name: tool, arguments: inputText } }],
      })),
  },
  "an older ollama (no index, one delta, no [DONE])": {
    ...openai,
    reasoning: "thinking",
    done: false,
    calls: (calls) => [
      {
        tool_calls: calls.map(({ tool, inputText }) => ({
          id: "",
          type: "function",
          function: { name: tool, arguments: inputText },
        })),
      },
    ],
  },
  "vllm (id and name with every piece)": {
    ...openai,
    lineEnd: "\r",
    calls: (calls, pieces) =>
      calls.flatMap(({ tool, inputText }, index) =>
        slices(inputText, pieces).map((text) => ({
          tool_calls: [{ index, id: `chatcmpl-tool-${index}`, function: { name: tool, arguments: text } }],
        })),
      ),
  },
  "lm studio (the same id for every call)": {
    ...openai,
    calls: (calls) =>
      calls.map(({ tool, inputText }, index) => ({
        tool_calls: [{ index, id: "123", type: "function", function: { name: tool, arguments: inputText } }],
      })),
  },
};

/** The events of an answer, each as it stands on the wire. */
export function eventsOf(reply: PlayedReply, dialect: Dialect): readonly string[] {
  const {
    reasoning = "",
    text = "",
    files = [],
    calls = [],
    pieces = 4,
    usage = { inputTokens: 1, outputTokens: 1 },
  } = reply;
  const { finish = calls.length > 0 ? "tool-calls" : "stop" } = reply;
  const counted = usage && dialect.usage(usage);
  const deltas: object[] = [
    { role: "assistant", content: "" },
    ...slices(reasoning, pieces).map((piece) => ({ [dialect.reasoning]: piece })),
    ...slices(text, pieces).map((piece) => ({ content: piece })),
    ...files.map(({ url }) => ({ images: [{ type: "image_url", image_url: { url } }] })),
    ...dialect.calls(calls, pieces),
  ];
  const last = { index: 0, delta: {}, finish_reason: dialect.finish[finish] ?? finish };
  const chunks: object[] = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }], usage: null })),
    { choices: [last], ...(counted && dialect.usageIn === "finish" ? { usage: counted } : {}) },
    ...(counted && dialect.usageIn === "own" ? [{ choices: [], usage: counted }] : []),
  ];
  const stamp = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };
  const lines = chunks.map((chunk) => `${dialect.prefix}${JSON.stringify({ ...stamp, ...chunk })}`);
  const all = dialect.done ? [...lines, `${dialect.prefix}[DONE]`] : lines;
  const said = dialect.comment ? all.flatMap((line) => [dialect.comment as string, line]) : all;
  return said.map((line) => line + dialect.lineEnd + dialect.lineEnd);
}

/** What servers answer when they fail. Several put the key into their text. */
function failures(key: string): Readonly<Partial<Record<ErrorCode, readonly [number, unknown]>>> {
  return {
    "model-unauthorized": [401, { error: { message: `Incorrect API key provided: ${key}`, code: "invalid_api_key" } }],
    "model-not-found": [404, { error: { message: `model "m" not found, try pulling it first (${key})` } }],
    "model-refused": [400, { object: "error", message: `temperature must be below 2 (key ${key})`, code: 400 }],
    "model-context-overflow": [400, { error: { message: "too long", code: "context_length_exceeded" } }],
    "model-rate-limited": [429, { error: { message: `Rate limit reached for ${key}`, type: "requests" } }],
    "model-overloaded": [503, { error: "overloaded" }],
    "model-failed": [500, `<html>Internal error ${key}</html>`],
  };
}

export function playOf(answer: PlayedAnswer, dialect: Dialect, key: string): Play {
  if ("fails" in answer) {
    const [status, body] = failures(key)[answer.fails] ?? [500, ""];
    const wait = answer.retryAfterMs === undefined ? {} : { "retry-after": String(answer.retryAfterMs / 1_000) };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return { status, headers: { "content-type": "application/json", ...wait }, chunks: [text] };
  }
  if ("cutAfter" in answer || "silentAfter" in answer) {
    const text = "cutAfter" in answer ? answer.cutAfter : answer.silentAfter;
    const begun = eventsOf({ text, pieces: 100 }, dialect).slice(0, dialect.comment ? 4 : 2);
    return { chunks: begun, after: "cutAfter" in answer ? "cut" : "hang" };
  }
  return { chunks: eventsOf(answer, dialect) };
}

/** The same reply without a stream. */
export function wholeOf(reply: PlayedReply): Play {
  const { reasoning, text = "", files = [], calls = [], usage = { inputTokens: 1, outputTokens: 1 } } = reply;
  const { finish = calls.length > 0 ? "tool-calls" : "stop" } = reply;
  const message = {
    role: "assistant",
    content: text,
    ...(reasoning ? { reasoning_content: reasoning } : {}),
    ...(files.length === 0 ? {} : { images: files.map(({ url }) => ({ type: "image_url", image_url: { url } })) }),
    tool_calls: calls.map(({ tool, inputText }, at) => ({
      id: `c${at}`,
      type: "function",
      function: { name: tool, arguments: inputText },
    })),
  };
  const body = {
    choices: [{ index: 0, message, finish_reason: words[finish] }],
    ...(usage ? { usage: openaiUsage(usage) } : {}),
  };
  return { headers: { "content-type": "application/json" }, chunks: [JSON.stringify(body)] };
}
