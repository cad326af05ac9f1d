/** Images, sounds and files of messages: what they are in words, and where their bytes are. */
import { HoldfastError } from "./errors.ts";
import type { ContentRef, FilePart, ImagePart, Part, TextPart } from "./message.ts";
import type { Modality } from "./model.ts";

export type AnyFile = ImagePart | FilePart;

export function isFile(part: Part): part is AnyFile {
  return part.type === "image" || part.type === "file";
}

/** Bytes that are kept, as a part of a message. */
export function fileOf(content: ContentRef): AnyFile {
  const { mediaType } = content;
  return mediaType.toLowerCase().startsWith("image/")
    ? { type: "image", mediaType, content }
    : { type: "file", mediaType, content };
}

export function modalityOf(part: Part): Modality {
  if (!isFile(part)) return "text";
  const [kind] = part.mediaType.toLowerCase().split("/");
  if (part.type === "image" || kind === "image") return "image";
  return kind === "audio" ? "audio" : "file";
}

/** For people and models: never the bytes, nor an address, which may hold them. */
export function describeFile(part: AnyFile): string {
  const name = part.type === "file" && part.name !== undefined ? ` ${part.name.slice(0, 200)}` : "";
  const bytes = "content" in part ? part.content.bytes : bytesIn64(part.url);
  const size = bytes === undefined ? "" : `, ${bytes} bytes`;
  return `${modalityOf(part)}${name} (${part.mediaType.slice(0, 200)}${size})`;
}

/** What stands for it in a request. */
export function named(part: AnyFile, why: string): TextPart {
  return { type: "text", text: `[Left out, for ${why}: ${describeFile(part)}]` };
}

/** Where an adapter finds the bytes: the engine has put those of content into the address. */
export function addressOf(part: AnyFile): string {
  if ("url" in part) return part.url;
  throw new HoldfastError(
    "model-refused",
    `The ${describeFile(part)} is kept as content ${part.content.hash}, whose bytes are not in the request; call the model through a run`,
  );
}

export function dataUrl(mediaType: string, body: Uint8Array): string {
  const { buffer, byteOffset, byteLength } = body;
  return `data:${mediaType};base64,${Buffer.from(buffer, byteOffset, byteLength).toString("base64")}`;
}

export type DataUrlCheck =
  | { readonly ok: true; readonly body: Uint8Array }
  | { readonly ok: false; readonly problem: string };

/** How many bytes an address holds in base64, without reading them. */
export function bytesIn64(url: string): number | undefined {
  const comma = url.indexOf(",");
  if (!isDataUrl(url) || !/;\s*base64\s*$/i.test(url.slice(0, Math.max(0, comma)))) return undefined;
  const padding = url.endsWith("==") ? 2 : Number(url.endsWith("="));
  return Math.floor(((url.length - comma - 1 - padding) * 3) / 4);
}

/** What an address says of its bytes: their media type, without parameters, and whether they are plain base64. */
export function saidOf(url: string): { readonly mediaType: string; readonly is64: boolean; readonly isPlain: boolean } {
  const comma = url.indexOf(",");
  const head = url.slice("data:".length, Math.max(0, comma));
  const is64 = /;\s*base64\s*$/i.test(head);
  const text = url.slice(comma + 1);
  const isPlain = is64 && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
  return { mediaType: bareType(head), is64, isPlain };
}

export function bareType(mediaType: string): string {
  return (mediaType.split(";")[0] ?? "").trim().toLowerCase();
}

export function isDataUrl(url: string): boolean {
  return /^data:/i.test(url);
}

/** The bytes of a `data:` address, or what is wrong with it. Strict: what is half read would be sent half. */
export function readDataUrl(url: string): DataUrlCheck {
  const comma = url.indexOf(",");
  if (!isDataUrl(url) || comma < 0) return refused("it is no data:…;base64, address");
  const text = url.slice(comma + 1);
  return /;\s*base64\s*$/i.test(url.slice(0, comma)) ? decode64(text) : readEscaped(text);
}

/** As strict as that. The alphabet of addresses is read too. */
export function decode64(text: string): DataUrlCheck {
  const bare = text.replace(/={1,2}$/, "");
  if (!/^[A-Za-z0-9+/_-]*$/.test(bare)) return refused("its base64 has characters that are none");
  if (bare.length % 4 === 1 || (bare.length !== text.length && text.length % 4 !== 0)) {
    return refused("its base64 is cut off");
  }
  return { ok: true, body: new Uint8Array(Buffer.from(bare, "base64")) };
}

function readEscaped(text: string): DataUrlCheck {
  try {
    return { ok: true, body: new TextEncoder().encode(decodeURIComponent(text)) };
  } catch {
    return refused("its escapes are broken");
  }
}

function refused(problem: string): DataUrlCheck {
  return { ok: false, problem };
}
