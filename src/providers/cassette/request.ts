/**
 * A request as a cassette keeps it: what the provider gets to see, without what is new in every run. Ids of messages, runs
 * and threads are left out; ids of calls become their number in the conversation.
 */
import { createHash } from "node:crypto";
import { isDataUrl, isFile } from "../../domain/file-part.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { Part } from "../../domain/message.ts";
import type { ModelDescription } from "../../domain/model.ts";
import type { Redactor } from "../../domain/redaction.ts";
import type { ModelRequest } from "../../ports/provider.ts";

/** In the order in which two are compared. */
export interface RecordedRequest {
  readonly model: string;
  readonly instructions: JsonValue;
  readonly tools: JsonValue;
  readonly output?: JsonValue;
  readonly temperature?: number;
  readonly topP?: number;
  readonly reasoningEffort?: string;
  readonly settings?: JsonValue;
  readonly maxOutputTokens?: number;
  readonly messages: readonly JsonValue[];
  readonly continues?: JsonValue;
}

/** Closed: a new field of requests has to say here whether a provider gets to see it. */
const isSeen: Readonly<Record<keyof ModelRequest, boolean>> = {
  agent: false,
  thread: false,
  step: false,
  attempt: false,
  cache: false, // only what a call costs hangs on it, and its key is another in every thread
  instructions: true,
  tools: true,
  output: true,
  temperature: true,
  topP: true,
  reasoningEffort: true,
  settings: true,
  maxOutputTokens: true,
  continues: true,
  messages: true,
};

export function recordedRequest(
  request: ModelRequest,
  { provider, model }: ModelDescription,
  redactor: Redactor,
): RecordedRequest {
  const names = Object.keys(isSeen) as (keyof ModelRequest)[];
  const seen = names.filter((name) => isSeen[name]).map((name) => [name, request[name]]);
  const asked = { model: `${provider}/${model}`, ...Object.fromEntries(seen), messages: withoutIds(request) };
  // Through JSON, which also leaves out what is undefined: what is compared is what would be read back.
  const json = JSON.parse(JSON.stringify(asked)) as JsonValue;
  return redactor.json(json) as unknown as RecordedRequest;
}

function withoutIds({ messages }: ModelRequest): readonly object[] {
  const numbers = new Map<string, string>();
  const numberOf = (call: string): string => {
    if (!numbers.has(call)) numbers.set(call, `call-${numbers.size + 1}`);
    return numbers.get(call) as string;
  };
  return messages.map(({ role, parts }) => ({
    role,
    parts: parts.map((part) => ("call" in part ? { ...part, call: numberOf(part.call) } : brief(part))),
  }));
}

/** A cassette is read by people: long bytes are told by their hash, and compared by it. */
function brief(part: Part): Part {
  if (!isFile(part) || !("url" in part) || !isDataUrl(part.url) || part.url.length <= longest) return part;
  const comma = part.url.indexOf(",");
  const hash = createHash("sha256")
    .update(part.url.slice(comma + 1))
    .digest("hex");
  return { ...part, url: `${part.url.slice(0, comma)};sha256,${hash}` };
}

const longest = 4_096;

/** Equal for equal requests, whatever the order of their fields. */
export function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => sorted(item));
  if (typeof value !== "object" || value === null) return value;
  const { ...fields } = value as JsonObject;
  return Object.fromEntries(
    Object.keys(fields)
      .sort()
      .map((name) => [name, sorted(fields[name] as JsonValue)]),
  );
}
