/**
 * Where a server is told to cache up to: `cache_control` on a part, as OpenRouter takes it for the vendors behind it.
 * Without the marks the bytes are the same in every request, so every content that can have one is a list of parts.
 */
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { ModelRequest } from "../../ports/provider.ts";
import { isRecord } from "../shared/fields.ts";
import { markedMessages } from "../shared/prompt-cache.ts";

interface Conversation {
  readonly system: readonly JsonObject[];
  /** For each message what is sent of it. */
  readonly messages: readonly (readonly JsonObject[])[];
}

export function withMarks({ system, messages }: Conversation, request: ModelRequest): readonly JsonObject[] {
  const sent = [...system, ...messages.flat()];
  if (!request.cache) return sent;
  const ends = [...markedMessages(request)].map((at) => system.length + messages.slice(0, at + 1).flat().length);
  const marked = new Set([system.length, ...ends].map((end) => sent.slice(0, end).findLastIndex(hasText)));
  return sent.map((message, at) => {
    if (message.role === "assistant") return message;
    const parts = partsOf(message);
    return { ...message, content: marked.has(at) ? marksLast(parts) : parts };
  });
}

function partsOf({ content }: JsonObject): readonly JsonValue[] {
  return Array.isArray(content) ? content : [{ type: "text", text: content ?? "" }];
}

/** Only a text can have a mark, and only with words in it: what ends with a picture has it before that. */
function hasText(message: JsonObject): boolean {
  return message.role !== "assistant" && partsOf(message).some(isText);
}

function isText(part: JsonValue): boolean {
  return isRecord(part) && part.type === "text" && part.text !== "";
}

function marksLast(parts: readonly JsonValue[]): readonly JsonValue[] {
  const last = parts.findLastIndex(isText);
  return parts.map((part, at) => (at === last ? { ...(part as JsonObject), ...mark } : part));
}

const mark = { cache_control: { type: "ephemeral" } };
