/** A model that counts what it is sent, refuses what is more than it can read, and remembers the wire bytes of the last call. */
import { HoldfastError } from "../../src/domain/errors.ts";
import type { Model, ModelPart, ModelRequest } from "../../src/ports/provider.ts";

export interface Sent {
  readonly step: number;
  readonly messages: number;
  readonly tokens: number;
  /** The bytes of the call before are the beginning of this one's. */
  readonly continues: boolean;
  readonly first: string;
}

export interface CountingModel extends Model {
  readonly sent: Sent[];
  readonly summaries: ModelRequest[];
  readonly last: () => ModelRequest | undefined;
}

export interface Says {
  readonly window: number;
  /** Characters of its own tokens. */
  readonly characters?: number;
  readonly answer: (request: ModelRequest) => readonly ModelPart[];
  readonly summary?: (request: ModelRequest) => string | Promise<string>;
  /** Its summaries do not stop when they are told to. */
  readonly deaf?: boolean;
}

export function countingModel({ window, characters = 4, answer, summary, deaf = false }: Says): CountingModel {
  const sent: Sent[] = [];
  const summaries: ModelRequest[] = [];
  let before = "";
  let last: ModelRequest | undefined;
  return {
    description: { provider: "counting", model: "m", contextWindow: window, maxOutputTokens: 64 },
    sent,
    summaries,
    last: () => last,
    async *call(request, signal) {
      const bytes = wire(request);
      const tokens = Math.ceil(bytes.length / characters);
      if (tokens + 64 > window) throw new HoldfastError("model-context-overflow", `${tokens} tokens are too many`);
      const usage = { inputTokens: tokens, outputTokens: 10 };
      if (isSummary(request)) {
        summaries.push(request);
        yield {
          type: "text-delta",
          text: (await (deaf ? summary?.(request) : heeding(signal, summary?.(request)))) ?? "So far so good.",
        };
        yield { type: "finish", reason: "stop", usage };
        return;
      }
      sent.push({
        step: request.step,
        messages: request.messages.length,
        tokens,
        continues: bytes.startsWith(before),
        first: request.messages[0]?.id ?? "",
      });
      before = bytes;
      last = request;
      const parts = answer(request);
      yield* parts;
      yield { type: "finish", reason: parts.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop", usage };
    },
  };
}

/** Stops when it is told to. */
function heeding<T>(signal: AbortSignal, work: T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
    Promise.resolve(work).then(resolve, reject);
  });
}

export function isSummary({ tools, instructions }: ModelRequest): boolean {
  return tools.length === 0 && instructions.startsWith("Summarise");
}

/** As an HTTP body would have it, without the end of the list. */
function wire({ instructions, tools, messages }: ModelRequest): string {
  return JSON.stringify({ instructions, tools, messages }).slice(0, -2);
}

export function says(text: string): readonly ModelPart[] {
  return [{ type: "text-delta", text }];
}

export function callsTool(tool: string, input: object, alias = "a"): readonly ModelPart[] {
  return [{ type: "tool-call", alias, tool, inputText: JSON.stringify(input) }];
}
