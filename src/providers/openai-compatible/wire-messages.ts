/** Our messages as chat completions want them. Pure: the same messages give the same bytes, so providers can cache them. */
import { HoldfastError } from "../../domain/errors.ts";
import { type AnyFile, addressOf, describeFile, isFile } from "../../domain/file-part.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import {
  type CallResult,
  callsOf,
  type FilePart,
  type Message,
  type Part,
  type ToolCallPart,
  textOf,
} from "../../domain/message.ts";
import type { CallNames } from "./call-names.ts";

export interface WireOptions {
  /** The key under which parts keep what this provider wants back. */
  readonly keptAs: string;
  readonly returnReasoning: boolean;
  readonly names: CallNames;
}

/** For each message what is sent of it. */
export function wireMessages(messages: readonly Message[], options: WireOptions): readonly (readonly JsonObject[])[] {
  return messages.map((message) => wireMessage(message, options));
}

function wireMessage(message: Message, options: WireOptions): readonly JsonObject[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: textOf(message) }];
    case "user":
      return [{ role: "user", content: userContent(message.parts) }];
    case "assistant":
      return [assistant(message, options)];
    case "tool":
      return message.parts.flatMap((part) =>
        part.type === "tool-result"
          ? [{ role: "tool", tool_call_id: options.names.of(part.call), content: resultText(part.result) }]
          : [],
      );
    default:
      return message.role satisfies never;
  }
}

/** One text is a string: the plainest form, which every server reads. */
function userContent(parts: readonly Part[]): JsonValue {
  const isText = (part: Part): boolean => part.type === "text" || part.type === "data";
  if (parts.every(isText)) return parts.map(partText).join("\n");
  return parts.map(userPart);
}

function partText(part: Part): string {
  if (part.type === "text") return part.text;
  return part.type === "data" ? `${part.name}: ${JSON.stringify(part.data)}` : "";
}

function userPart(part: Part): JsonObject {
  switch (part.type) {
    case "text":
    case "data":
      return { type: "text", text: partText(part) };
    case "image":
      return { type: "image_url", image_url: { url: addressOf(part) } };
    case "file":
      return filePart(part);
    case "reasoning":
    case "tool-call":
    case "tool-result":
      throw new HoldfastError("model-refused", `A message of a user cannot hold a part of the type ${part.type}`);
    default:
      return part satisfies never;
  }
}

/** Files go inside the request: chat completions fetch images by address, and nothing else. */
function filePart(part: FilePart): JsonObject {
  const { mediaType, name } = part;
  const url = addressOf(part);
  const [kind, format = ""] = mediaType.split("/");
  if (kind === "image") return { type: "image_url", image_url: { url } };
  const data = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
  if (data === undefined) {
    const what = `The file ${name ?? mediaType} is not in the message: chat completions take files as data:…;base64, addresses`;
    throw new HoldfastError("model-refused", what);
  }
  if (kind === "audio") return { type: "input_audio", input_audio: { data, format: audioFormats[format] ?? format } };
  return { type: "file", file: { filename: name ?? "file", file_data: url } };
}

const audioFormats: Readonly<Record<string, string>> = { mpeg: "mp3", "x-wav": "wav", wave: "wav" };

function assistant(message: Message, options: WireOptions): JsonObject {
  const calls = callsOf(message);
  const text = [textOf(message), ...message.parts.filter(isFile).map(madeBefore)]
    .filter((each) => each !== "")
    .join("\n");
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(options.returnReasoning ? reasoningFields(message, options.keptAs) : {}),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => wireCall(call, options)) }),
  };
}

/** A reply of the past holds words only: what else it held is named. */
function madeBefore(part: AnyFile): string {
  return `[Not shown: ${describeFile(part)}, which was part of this reply]`;
}

/** As it came, under the name it came by, and only what this provider sent: another's may mean nothing, or leak. */
function reasoningFields({ parts }: Message, keptAs: string): JsonObject {
  const fields: Record<string, JsonValue> = {};
  for (const part of parts) {
    const own = part.type === "reasoning" ? part.metadata?.[keptAs] : undefined;
    if (part.type !== "reasoning" || !own) continue;
    const { field, details } = own;
    if (typeof field === "string") fields[field] = `${fields[field] ?? ""}${part.text}`;
    if (Array.isArray(details)) fields.reasoning_details = details;
  }
  return fields;
}

function wireCall(call: ToolCallPart, { keptAs, names }: WireOptions): JsonObject {
  const extra = call.metadata?.[keptAs]?.extra;
  return {
    id: names.of(call.call),
    type: "function",
    function: { name: call.tool, arguments: argumentsOf(call) },
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}

/** What was no JSON is not sent back as if it were: servers parse it, and refuse the whole conversation. */
function argumentsOf({ input }: ToolCallPart): string {
  return JSON.stringify(input.kind === "json" ? input.value : { unreadable: input.text });
}

function resultText(result: CallResult): string {
  if (result.kind === "error") return `Error (${result.code}): ${result.message}`;
  if (result.say !== undefined) return result.say;
  return typeof result.value === "string" ? result.value : JSON.stringify(result.value);
}
