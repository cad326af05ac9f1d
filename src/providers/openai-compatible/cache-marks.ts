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
  if (!request.cache) return [...system, ...messages.flat()];
  const marked = markedMessages(request);
  const sent = messages.map((each, at) => marks(each, marked.has(at)));
  return [...marks(system, true), ...sent.flat()];
}

/** The last of what belongs together has the mark. */
function marks(wired: readonly JsonObject[], isMarked: boolean): readonly JsonObject[] {
  return wired.map((message, at) => {
    if (message.role === "assistant") return message;
    const parts = partsOf(message.content);
    return { ...message, content: isMarked && at === wired.length - 1 ? marksLast(parts) : parts };
  });
}

function partsOf(content: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(content) ? content : [{ type: "text", text: content ?? "" }];
}

/** Only a text can have one, and only with words in it. */
function marksLast(parts: readonly JsonValue[]): readonly JsonValue[] {
  const last = parts.findLastIndex((part) => isRecord(part) && part.type === "text" && part.text !== "");
  return parts.map((part, at) => (at === last ? { ...(part as JsonObject), ...mark } : part));
}

const mark = { cache_control: { type: "ephemeral" } };
