/**
 * What a server answered, as a tool's result: data for the program, words for the model.
 *
 * Files (images, sounds, blobs) that a tool of a run gives are kept as content, and shown to a model that says it reads such.
 */
import type { ContentResult } from "../../domain/content.ts";
import { type JsonValue, toJson, valueLimits } from "../../domain/json.ts";
import type { ContentRef } from "../../domain/message.ts";
import { type ToldResult, tellModel } from "../../domain/tool.ts";
import { type Filing, fileOf, openFiling } from "./files.ts";

export type McpPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly mediaType: string; readonly base64: string }
  | { readonly type: "resource"; readonly uri: string; readonly mediaType?: string; readonly text: string }
  | { readonly type: "resource"; readonly uri: string; readonly mediaType?: string; readonly base64: string }
  | Filed
  | { readonly type: "link"; readonly uri: string; readonly name: string }
  | { readonly type: "left-out"; readonly what: string; readonly bytes: number };

/** A file that is kept as content. */
type Filed =
  | { readonly type: "image" | "audio"; readonly mediaType: string; readonly content: ContentRef }
  | { readonly type: "resource"; readonly uri: string; readonly mediaType?: string; readonly content: ContentRef };

export interface McpResult {
  readonly content: readonly McpPart[];
  /** What the server gave as data, if it did. */
  readonly structured?: JsonValue;
  /** The server says that the call failed. What it did before, it does not say. */
  readonly isError?: true;
}

/** What a tool gives back of an answer. */
export type McpOutcome = ToldResult<McpResult | ContentResult> | ContentResult;

export interface Reading {
  readonly maxBytes: number;
  /** Takes out what may not be in a result. */
  readonly clean: (text: string) => string;
}

const mostParts = 200;

/** For a program that asks by itself: bytes are in the result, in base64, as long as they fit. */
export function readResult(answer: unknown, reading: Reading): ToldResult<McpResult> {
  const result = read(answer, reading, (part) => part);
  return tellModel(result, told(result, partWords).join("\n"));
}

/** For a call of a model: bytes are content. An answer that is one file is that file. */
export function readOutcome(answer: unknown, reading: Reading): McpOutcome {
  const only = onlyFile(answer, reading);
  if (only) {
    const file = fileOf(only.base64, only.mediaType, fileWords(only));
    return file.body.length === 0 ? file : tellModel(file, [file]);
  }
  const filing = openFiling();
  const result = read(answer, reading, (part) => filed(part, filing));
  const said = told(result, (part) => ("content" in part ? filing.of(part.content) : undefined) ?? partWords(part));
  return tellModel(result, said.every((each) => typeof each === "string") ? said.join("\n") : said);
}

function read(answer: unknown, reading: Reading, keep: (part: McpPart) => McpPart): McpResult {
  const { content, structuredContent, isError } = (answer ?? {}) as Record<string, unknown>;
  const room = { left: reading.maxBytes };
  const structured: Partial<Structured> =
    structuredContent === undefined ? {} : readStructured(structuredContent, reading, room);
  const given: readonly unknown[] = Array.isArray(content) ? content : [];
  const parts = given.slice(0, mostParts).map((part) => keep(readPart(part, reading.clean)));
  const more = given.length - parts.length;
  const kept = parts.map((part) => within(part, room));
  const left: readonly McpPart[] = [
    ...(structured.leftOut ? [structured.leftOut] : []),
    ...(more > 0 ? [{ type: "left-out" as const, what: `${more} more parts`, bytes: 0 }] : []),
  ];
  return {
    content: [...kept, ...left],
    ...(structured.value !== undefined ? { structured: structured.value } : {}),
    ...(isError === true ? { isError: true } : {}),
  };
}

type WithBytes = Extract<McpPart, { base64: string }>;

function onlyFile(answer: unknown, { clean }: Reading): WithBytes | undefined {
  const { content, structuredContent, isError } = (answer ?? {}) as Record<string, unknown>;
  const isFile = Array.isArray(content) && content.length === 1 && structuredContent === undefined && isError !== true;
  const part = isFile ? readPart(content[0], clean) : undefined;
  return part && "base64" in part ? part : undefined;
}

function filed(part: McpPart, filing: Filing): McpPart {
  if (!("base64" in part) || byteLength(part.base64) === 0) return part;
  const { base64, ...rest } = part;
  const content = filing.keep(base64, part.mediaType, fileWords(part));
  if (content) return { ...rest, content } as McpPart;
  return { type: "left-out", what: nameOf(part), bytes: byteLength(base64) };
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
  const what = nameOf(part);
  if (whole === undefined || fits === 0) return { type: "left-out", what, bytes };
  return {
    type: "text",
    text: `${startOf(whole, fits)}… (the rest of ${bytes} bytes is left out: the result is too large)`,
  };
}

/** As much of it as takes so many bytes of JSON: a character takes one to six. */
function startOf(text: string, bytes: number): string {
  let [fits, tooMany] = [0, Math.min(text.length, bytes) + 1];
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (Buffer.byteLength(JSON.stringify(text.slice(0, middle))) <= bytes) fits = middle;
    else tooMany = middle;
  }
  return text.slice(0, fits).toWellFormed();
}

function nameOf(part: McpPart): string {
  return part.type === "resource" ? `resource ${part.uri.slice(0, 200)}` : part.type;
}

function sizeOf(part: McpPart): number {
  return Buffer.byteLength(JSON.stringify(part)) + 1;
}

function told<Said>(
  { content, structured, isError }: McpResult,
  say: (part: McpPart) => Said,
): readonly (Said | string)[] {
  const isSaid = content.some((part) => part.type === "text");
  const said: readonly (Said | string)[] = [
    ...(structured !== undefined && !isSaid ? [JSON.stringify(structured)] : []),
    ...content.map(say),
  ];
  if (!isError) return said;
  const [first = "", ...rest] = said;
  const failed = "The tool reports an error:";
  return typeof first === "string" ? [`${failed} ${first}`, ...rest] : [failed, ...said];
}

function partWords(part: McpPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return fileWords(part, ", not shown");
    case "resource":
      return "text" in part ? `(resource ${part.uri})\n${part.text}` : fileWords(part, ", not shown");
    case "link":
      return `(resource ${part.name} at ${part.uri})`;
    case "left-out":
      return `(left out: ${part.what}${part.bytes > 0 ? `, ${part.bytes} bytes` : ""})`;
    default:
      return part satisfies never;
  }
}

function fileWords(part: WithBytes | Filed, more = ""): string {
  const bytes = "base64" in part ? byteLength(part.base64) : part.content.bytes;
  const what = part.type === "resource" ? `resource ${part.uri}` : `${part.type} ${part.mediaType}`;
  return `(${what}, ${bytes} bytes${more})`;
}

function byteLength(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}
