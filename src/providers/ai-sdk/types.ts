/**
 * What the AI SDK's specifications v3 and v4 ask of a caller, written down by hand: their packages are not needed, and a
 * test compares these types with theirs. Arrays are not readonly because theirs are not.
 */

import type { AiSdkModel } from "../../domain/ai-sdk-model.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";

/** Keyed by the provider's own name: `{ anthropic: { … } }`. */
export type ProviderOptions = Record<string, JsonObject>;

export interface WithOptions {
  providerOptions?: ProviderOptions;
}

export interface PromptText extends WithOptions {
  type: "text";
  text: string;
}
export interface PromptReasoning extends WithOptions {
  type: "reasoning";
  text: string;
}
/** v4 only: what a provider wants back and nobody else can read. */
export interface PromptCustom extends WithOptions {
  type: "custom";
  kind: `${string}.${string}`;
}
export interface PromptFile<Data> extends WithOptions {
  type: "file";
  mediaType: string;
  data: Data;
  filename?: string;
}
export interface PromptCall extends WithOptions {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: unknown;
}
export interface PromptResult extends WithOptions {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: { type: "text" | "error-text"; value: string } | { type: "json"; value: JsonValue };
}

export type AssistantPart<Data> = PromptText | PromptReasoning | PromptCustom | PromptFile<Data> | PromptCall;

export type PromptMessage<Data> =
  | ({ role: "system"; content: string } & WithOptions)
  | { role: "user"; content: (PromptText | PromptFile<Data>)[] }
  | { role: "assistant"; content: AssistantPart<Data>[] }
  | { role: "tool"; content: PromptResult[] };

export interface FunctionTool extends WithOptions {
  type: "function";
  name: string;
  description: string;
  inputSchema: JsonObject;
}

export type ToolChoice = { type: "auto" | "none" | "required" } | { type: "tool"; toolName: string };

/** What a call can be told besides the conversation. */
export interface CallSettings {
  temperature?: number;
  topP?: number;
  topK?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  stopSequences?: string[];
  seed?: number;
  toolChoice?: ToolChoice;
  /** v4 only. */
  reasoning?: ReasoningLevel;
  headers?: Record<string, string>;
  providerOptions?: ProviderOptions;
}

export const reasoningLevels = [
  "provider-default",
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
] as const;
export type ReasoningLevel = (typeof reasoningLevels)[number];

export interface CallOptions<Data> extends CallSettings {
  prompt: PromptMessage<Data>[];
  tools?: FunctionTool[];
  maxOutputTokens?: number;
  responseFormat?: { type: "json"; schema: JsonObject; name: string };
  abortSignal: AbortSignal;
}

/** Bytes are base64. */
export type DataV3 = string | URL;
export type DataV4 = { type: "data"; data: string } | { type: "url"; url: URL };

export type SpecificationVersion = AiSdkModel["specificationVersion"];

/** The model as it is called: the one place where its options are more than `never`. */
export interface CallableModel {
  readonly supportedUrls?: unknown;
  doStream(options: CallOptions<DataV3 | DataV4>): unknown;
}
