/** Provider: a model vendor, seen as one model that can be called. Adapters classify their errors at this edge. */
import type { AiSdkModel } from "../domain/ai-sdk-model.ts";
import type { FinishReason } from "../domain/entry.ts";
import type { ThreadId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Message, PartMetadata } from "../domain/message.ts";
import type { DescribedModel, PricedAnswerer } from "../domain/model.ts";
import type { Overrides } from "../domain/overrides.ts";
import type { Usage } from "../domain/run.ts";

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

export interface ModelRequest extends Pick<Overrides, "temperature" | "topP" | "reasoningEffort" | "settings"> {
  readonly agent: string;
  /** Whose conversation it is: calls of one thread may be kept together. Never sent. */
  readonly thread: ThreadId;
  readonly step: number;
  readonly attempt: number;
  readonly instructions: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ModelTool[];
  /** The longest answer that is wanted and paid for. */
  readonly maxOutputTokens?: number;
  /** The schema that the model is to be bound to in its final answer; calls of tools are not. Only with `structuredOutput`. */
  readonly output?: { readonly schema: JsonObject };
  /**
   * The reply is to go on from this text, which has come already: the last two messages are what has come and the request
   * to go on.
   */
  readonly continues?: string;
  /** What a provider may keep of this request for the next one. It changes what a call costs, never what it means. */
  readonly cache?: PromptCache;
}

export interface PromptCache {
  /** The same for every call of one agent on one thread, and tells neither: it may be sent. */
  readonly key: string;
  /** So many messages from the first on come again in the next request, as they are. */
  readonly stable: number;
}

/** Deltas of one type that follow each other are one part of the message, unless one says that it begins another. */
interface TextPiece {
  readonly text: string;
  readonly begins?: boolean;
  /** What the provider wants back, a signature for example. Stored with the part; of what comes twice the last one counts. */
  readonly metadata?: PartMetadata;
}

/** A reply as it comes. Tool input is raw text; nobody repairs it. */
export type ModelPart =
  | ({ readonly type: "text-delta" } & TextPiece)
  | ({ readonly type: "reasoning-delta" } & TextPiece)
  /** Live only: what counts is the whole `tool-call` that follows. One without text says that a call begins. */
  | { readonly type: "tool-input-delta"; readonly index: number; readonly tool: string; readonly text: string }
  | {
      readonly type: "tool-call";
      readonly alias: string;
      readonly tool: string;
      readonly inputText: string;
      readonly metadata?: PartMetadata;
    }
  /** A file that the model has made, whole: its bytes in a `data:` address, or where they are. */
  | {
      readonly type: "file";
      readonly mediaType: string;
      readonly url: string;
      readonly name?: string;
      readonly metadata?: PartMetadata;
    }
  /** Nothing new, but the provider is alive. */
  | { readonly type: "ping" }
  /**
   * Why it stopped, in our words: `stop` and `tool-calls` only of a reply that is whole, `content-filter` also when the
   * model refuses, `other` whenever the provider's word is not known. Usage that was not counted is left out.
   */
  | {
      readonly type: "finish";
      readonly reason: FinishReason;
      readonly usage?: Usage;
      /** Of a model that stands for several: the one that answered, and what it costs. */
      readonly answeredBy?: PricedAnswerer;
    };

export interface Model extends DescribedModel {
  /**
   * One call. Yields parts and ends with exactly one `finish`; a stream that ends without it is malformed.
   * Failures are HoldfastErrors of the model-… codes; anything else counts as `model-failed`.
   * Stops soon after the signal aborts.
   */
  call(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
  /** What of this it could not be called with, in words, each beginning with the field. Asked before a run is written. */
  problemsWith?(asked: Omit<Overrides, "model">): readonly string[];
}

/** A model that is named instead of an agent's, by its whole route; or why it cannot be had here or would not do. */
export type FindOther = (
  name: string,
) => { readonly route: string; readonly model: Model } | { readonly problem: string };

/**
 * Gives a vendor's models by their names; undefined when it has none of that name. Asked before anything runs. A provider of
 * the AI SDK is one.
 */
export type Provider = (model: string) => Model | AiSdkModel | undefined;

/** By the names that routes begin with. */
export type Providers = Readonly<Record<string, Provider>>;
