/** A model that says what it is told: answers by step, deterministic, no network. For tests, examples and demos. */
import type { FinishReason } from "../domain/entry.ts";
import { type ErrorCode, HoldfastError } from "../domain/errors.ts";
import type { ModelDescription } from "../domain/model.ts";
import type { Usage } from "../domain/run.ts";
import type { Model, ModelPart, ModelRequest } from "../ports/provider.ts";

export interface ScriptedCall {
  readonly tool: string;
  readonly input?: unknown;
  /** Raw text instead of `input`, to be as wrong as a real model can be. */
  readonly inputText?: string;
}

export interface ScriptedReply {
  readonly text?: string;
  readonly reasoning?: string;
  /** Files that the model has made, each with its bytes in a `data:` address. */
  readonly files?: readonly { readonly mediaType: string; readonly url: string }[];
  readonly calls?: readonly ScriptedCall[];
  readonly finish?: FinishReason;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** The whole count instead of the two above; null is a provider that does not count. */
  readonly usage?: Usage | null;
  /** Text and tool input are streamed in pieces of this many characters; whole unless said. */
  readonly pieces?: number;
  /** Waits before the first part. */
  readonly delayMs?: number;
  /** Waits before every other part. */
  readonly pauseMs?: number;
}

export interface ScriptedError {
  readonly error: ErrorCode;
  readonly message?: string;
  readonly retryAfterMs?: number;
}

/** Exactly these parts, however malformed. */
export interface ScriptedParts {
  readonly parts: readonly ModelPart[];
}

export type ScriptedAnswer =
  | string
  | ScriptedReply
  | ScriptedError
  | ScriptedParts
  /** One answer per attempt; the last one stays. */
  | { readonly attempts: readonly ScriptedAnswer[] }
  | ((request: ModelRequest) => ScriptedAnswer);

export interface ScriptedOptions {
  readonly name?: string;
  /** What else it says of itself: prices, its longest answer. */
  readonly description?: Omit<ModelDescription, "provider" | "model">;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The answer of step n is `answers[n - 1]`; asking for more fails loudly. */
export function scripted(answers: readonly ScriptedAnswer[], options: ScriptedOptions = {}): Model {
  const { name = "scripted", sleep = pause } = options;
  return {
    description: { provider: "scripted", model: name, ...options.description },
    async *call(request, signal) {
      const answer = resolve(answers[request.step - 1], request, name);
      signal.throwIfAborted();
      if ("error" in answer) throw failure(answer);
      if ("parts" in answer) {
        yield* answer.parts;
        return;
      }
      if (answer.delayMs !== undefined) await sleep(answer.delayMs, signal);
      for (const part of partsOf(goingOn(answer, request.continues))) {
        signal.throwIfAborted();
        yield part;
        if (answer.pauseMs !== undefined) await sleep(answer.pauseMs, signal);
      }
    },
  };
}

function resolve(
  answer: ScriptedAnswer | undefined,
  request: ModelRequest,
  name: string,
): ScriptedReply | ScriptedError | ScriptedParts {
  if (answer === undefined) {
    throw new HoldfastError(
      "script-exhausted",
      `Model ${name} has no answer for step ${request.step} of ${request.agent}`,
    );
  }
  if (typeof answer === "string") return { text: answer };
  if (typeof answer === "function") return resolve(answer(request), request, name);
  if ("attempts" in answer) {
    return resolve(answer.attempts[request.attempt - 1] ?? answer.attempts.at(-1), request, name);
  }
  return answer;
}

/** A model that is asked to go on says the rest. */
function goingOn(reply: ScriptedReply, said: string | undefined): ScriptedReply {
  if (said === undefined || !reply.text?.startsWith(said)) return reply;
  return { ...reply, text: reply.text.slice(said.length) };
}

function* partsOf(reply: ScriptedReply): Iterable<ModelPart> {
  if (reply.reasoning) yield { type: "reasoning-delta", text: reply.reasoning };
  for (const text of split(reply.text ?? "", reply.pieces)) yield { type: "text-delta", text };
  for (const file of reply.files ?? []) yield { type: "file", ...file };
  const calls = reply.calls ?? [];
  for (const [index, call] of calls.entries()) {
    const inputText = call.inputText ?? JSON.stringify(call.input ?? {});
    if (reply.pieces !== undefined) {
      for (const text of split(inputText, reply.pieces))
        yield { type: "tool-input-delta", index, tool: call.tool, text };
    }
    yield { type: "tool-call", alias: `call-${index + 1}`, tool: call.tool, inputText };
  }
  yield finishOf(reply, calls.length > 0);
}

function finishOf(reply: ScriptedReply, hasCalls: boolean): ModelPart {
  const { inputTokens = 1, outputTokens = 1, usage = { inputTokens, outputTokens } } = reply;
  const { finish: reason = hasCalls ? "tool-calls" : "stop" } = reply;
  return { type: "finish", reason, ...(usage ? { usage } : {}) };
}

function* split(text: string, size: number | undefined): Iterable<string> {
  if (text === "") return;
  const length = size ?? text.length;
  for (let from = 0; from < text.length; from += length) yield text.slice(from, from + length);
}

function failure(answer: ScriptedError): HoldfastError {
  const details = answer.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs };
  return new HoldfastError(answer.error, answer.message ?? `The script says ${answer.error}`, { details });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    });
  });
}
