/**
 * What a server answered, as a tool's result: data for the program, words for the model.
 *
 * An answer that is one file (an image, a sound, a blob) is kept as content. In any other answer bytes lie in the result
 * itself, in base64, as long as they fit; the model is told that they are there.
 */
import { asContent, type ContentResult } from "../../domain/content.ts";
import { type JsonValue, toJson, valueLimits } from "../../domain/json.ts";
import { type ToldResult, tellModel } from "../../domain/tool.ts";

export type McpPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly mediaType: string; readonly base64: string }
  | { readonly type: "resource"; readonly uri: string; readonly mediaType?: string; readonly text: string }
  | { readonly type: "resource"; readonly uri: string; readonly mediaType?: string; readonly base64: string }
  | { readonly type: "link"; readonly uri: string; readonly name: string }
  | { readonly type: "left-out"; readonly what: string; readonly bytes: number };

export interface McpResult {
  readonly content: readonly McpPart[];
  /** What the server gave as data, if it did. */
  readonly structured?: JsonValue;
  /** The server says that the call failed. What it did before, it does not say. */
  readonly isError?: true;
}

/** What a tool gives back of an answer. */
export type McpOutcome = ToldResult<McpResult> | ContentResult;

export interface Reading {
  readonly maxBytes: number;
  /** Takes out what may not be in a result. */
  readonly clean: (text: string) => string;
}

const mostParts = 200;

export function readResult(answer: unknown, reading: Reading): ToldResult<McpResult> {
  const { content, structuredContent, isError } = (answer ?? {}) as Record<string, unknown>;
  const room = { left: reading.maxBytes };
  const structured: Partial<Structured> =
    structuredContent === undefined ? {} : readStructured(structuredContent, reading, room);
  const given: readonly unknown[] = Array.isArray(content) ? content : [];
  const parts = given.slice(0, mostParts).map((part) => readPart(part, reading.clean));
  const more = given.length - parts.length;
  const kept = parts.map((part) => within(part, room));
  const left: readonly McpPart[] = [
    ...(structured.leftOut ? [structured.leftOut] : []),
    ...(more > 0 ? [{ type: "left-out" as const, what: `${more} more parts`, bytes: 0 }] : []),
  ];
  const result: McpResult = {
    content: [...kept, ...left],
    ...(structured.value !== undefined ? { structured: structured.value } : {}),
    ...(isError === true ? { isError: true } : {}),
  };
  return tellModel(result, words(result));
}

/** The same, unless the answer is one file. */
export function readOutcome(answer: unknown, reading: Reading): McpOutcome {
  const { content, structuredContent, isError } = (answer ?? {}) as Record<string, unknown>;
  const isFile = Array.isArray(content) && content.length === 1 && structuredContent === undefined && isError !== true;
  const part = isFile ? readPart(content[0], reading.clean) : undefined;
  if (!part || !("base64" in part)) return readResult(answer, reading);
  const known = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/.test(part.mediaType ?? "");
  const mediaType = known && part.mediaType ? part.mediaType : "application/octet-stream";
  return asContent(new Uint8Array(Buffer.from(part.base64, "base64")), { mediaType, say: partWords(part) });
}

/** The contents of a resource, as an answer with these parts. */
export function contentsAsAnswer(answer: unknown): { readonly content: readonly unknown[] } {
  const { contents } = (answer ?? {}) as { contents?: unknown };
  const list: readonly unknown[] = Array.isArray(contents) ? contents : [];
  return { content: list.map((resource) => ({ type: "resource", resource })) };
}

interface Room {
  left: number;
}

interface Structured {
  readonly value: JsonValue;
  readonly leftOut: McpPart;
}

function readStructured(given: unknown, { clean }: Reading, room: Room): Partial<Structured> {
  const json = toJson(given, { maxBytes: room.left, maxDepth: valueLimits.maxDepth - 4 });
  if (!json.ok) return { leftOut: { type: "left-out", what: `structured data (${json.problem})`, bytes: 0 } };
  room.left -= json.bytes;
  return { value: cleaned(json.value, clean) };
}

function cleaned(value: JsonValue, clean: Reading["clean"]): JsonValue {
  if (typeof value === "string") return clean(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => cleaned(item, clean));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [clean(key), cleaned(item, clean)]));
}

function readPart(given: unknown, clean: Reading["clean"]): McpPart {
  const part = (given ?? {}) as Record<string, unknown>;
  const text = (value: unknown): string => clean(typeof value === "string" ? value.toWellFormed() : "");
  switch (part.type) {
    case "text":
      return { type: "text", text: text(part.text) };
    case "image":
    case "audio":
      return { type: part.type, mediaType: text(part.mimeType), base64: bytesOf(part.data) };
    case "resource": {
      const { uri, mimeType, blob, text: words } = (part.resource ?? {}) as Record<string, unknown>;
      const head = {
        type: "resource",
        uri: text(uri),
        ...(mimeType === undefined ? {} : { mediaType: text(mimeType) }),
      } as const;
      return typeof blob === "string" ? { ...head, base64: bytesOf(blob) } : { ...head, text: text(words) };
    }
    case "resource_link":
      return { type: "link", uri: text(part.uri), name: text(part.name) };
    default:
      return { type: "left-out", what: `a part of an unknown kind`, bytes: 0 };
  }
}

function bytesOf(data: unknown): string {
  return typeof data === "string" && /^[A-Za-z0-9+/_=-]*$/.test(data) ? data : "";
}

/** What no longer fits is cut if it is text, and left out if it is not. */
function within(part: McpPart, room: Room): McpPart {
  const bytes = sizeOf(part);
  if (bytes <= room.left) {
    room.left -= bytes;
    return part;
  }
  const fits = Math.max(0, room.left - 400);
  room.left = 0;
  const whole = "text" in part ? part.text : undefined;
  const what = part.type === "resource" ? `resource ${part.uri.slice(0, 200)}` : part.type;
  if (whole === undefined || fits === 0) return { type: "left-out", what, bytes };
  // A character may take up to six bytes of JSON.
  const cut = whole.slice(0, Math.floor(fits / 6)).toWellFormed();
  return { type: "text", text: `${cut}… (the rest of ${bytes} bytes is left out: the result is too large)` };
}

function sizeOf(part: McpPart): number {
  return Buffer.byteLength(JSON.stringify(part)) + 1;
}

function words({ content, structured, isError }: McpResult): string {
  const said = content.map(partWords);
  const isSaid = content.some((part) => part.type === "text");
  if (structured !== undefined && !isSaid) said.unshift(JSON.stringify(structured));
  const all = said.join("\n");
  return isError ? `The tool reports an error: ${all}` : all;
}

function partWords(part: McpPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return `(${part.type} ${part.mediaType}, ${byteLength(part.base64)} bytes, not shown)`;
    case "resource":
      return "text" in part
        ? `(resource ${part.uri})\n${part.text}`
        : `(resource ${part.uri}, ${byteLength(part.base64)} bytes, not shown)`;
    case "link":
      return `(resource ${part.name} at ${part.uri})`;
    case "left-out":
      return `(left out: ${part.what}${part.bytes > 0 ? `, ${part.bytes} bytes` : ""})`;
    default:
      return part satisfies never;
  }
}

function byteLength(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}
