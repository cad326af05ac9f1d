/**
 * Messages as OpenTelemetry's conventions write them: JSON text in an attribute. Only ever used with `content: true`, and
 * without what the runtime's redaction hides.
 */
import type { FinishReason } from "../../domain/entry.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { CallInput, CallResult, FilePart, ImagePart, Message, Part } from "../../domain/message.ts";
import type { ReplyView } from "../../domain/plugin.ts";

type Written = JsonObject;
/** Takes out what may not leave the process; absent when no content is wanted. */
export type Redact = (value: JsonValue) => JsonValue;

export function inputMessages(messages: readonly Message[], redact: Redact): string {
  return JSON.stringify(redact(messages.map(written)));
}

export function outputMessages({ message, finish }: ReplyView["reply"], redact: Redact): string {
  return JSON.stringify(redact([{ ...written(message), finish_reason: finishReason(finish) }]));
}

/** What somebody said in words. */
export function said(words: string, redact: Redact): string {
  return String(redact(words));
}

/** The conventions' words for the same reasons. */
export function finishReason(finish: FinishReason): string {
  return finish === "tool-calls" ? "tool_call" : finish.replaceAll("-", "_");
}

export function resultText(result: CallResult, redact: Redact): string {
  return JSON.stringify(redact(resultOf(result)));
}

function written({ role, parts }: Message): Written {
  return { role, parts: parts.map(writtenPart) };
}

function writtenPart(part: Part): Written {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, content: part.text };
    case "tool-call":
      return { type: "tool_call", id: part.call, name: part.tool, arguments: inputOf(part.input) };
    case "tool-result":
      return { type: "tool_call_response", id: part.call, response: resultOf(part.result) };
    case "image":
    case "file":
      return { type: "uri", modality: part.type, mime_type: part.mediaType, uri: addressOf(part) };
    case "data":
      return { type: "data", name: part.name, content: part.data };
    default:
      return part satisfies never;
  }
}

/** A name by which the bytes can be read; the bytes themselves are nothing for a trace. */
function addressOf(part: ImagePart | FilePart): string {
  if ("content" in part) return `content:${part.content.hash}`;
  return part.url.startsWith("data:") ? `${part.url.slice(0, part.url.indexOf(",") + 1)}…` : part.url;
}

function inputOf(input: CallInput): JsonValue {
  return input.kind === "json" ? input.value : input.text;
}

function resultOf(result: CallResult): JsonValue {
  if (result.kind === "value") return result.say ?? result.value;
  return { error: result.code, message: result.message };
}
