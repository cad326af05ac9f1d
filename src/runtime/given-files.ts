/**
 * Images and files as a caller gives them: bytes, addresses, addresses that hold bytes, and content that is there already.
 *
 * K3 Bytes stay in their message while all that it brings fit into `inlineBytes`; the others become content.
 * K4 Content is put before the birth or post that cites it (K1). A cut in between leaves bytes that nobody cites.
 * K5 What no provider could read is refused here, by name, for it would stay in its thread: other addresses than http, https
 *    and data, other base64 than the standard's, an image whose media type is none of an image.
 */
import { isMediaType } from "../domain/content.ts";
import { bareType, bytesIn64, dataUrl, isDataUrl, readDataUrl, saidOf } from "../domain/file-part.ts";
import { isContentRef, type Part } from "../domain/message.ts";
import type { NewContent } from "../ports/content-store.ts";
import { type Desk, written } from "./desk.ts";
import type { NewFile, NewPart } from "./new-message.ts";

/** Nothing of it is quoted: an address may be a secret. */
export function fileProblems(part: Readonly<Record<string, unknown>>, desk: Desk): readonly string[] {
  const { type, mediaType, name } = part;
  const given = ["url", "body", "content"].filter((each) => part[each] !== undefined);
  return [
    ...(isMediaType(mediaType)
      ? imageProblems(type, mediaType)
      : ["mediaType must be a media type, such as image/png"]),
    ...(name === undefined || typeof name === "string" ? [] : ["name must be a string"]),
    ...(given.length === 1 ? sourceProblems(part, desk) : ["needs one of url, body (its bytes) and content"]),
  ];
}

function imageProblems(type: unknown, mediaType: string): readonly string[] {
  if (type !== "image" || bareType(mediaType).startsWith("image/")) return [];
  return ["mediaType must begin with image/; give anything else as a part of the type file"];
}

function sourceProblems(part: Readonly<Record<string, unknown>>, desk: Desk): readonly string[] {
  const { url, body, content } = part;
  if (content !== undefined) return isContentRef(content) ? [] : ["content must be { hash, bytes, mediaType }"];
  if (body !== undefined) {
    if (!(body instanceof Uint8Array)) return ["body must be a Uint8Array"];
    return sizeProblems("body", body.length, desk);
  }
  if (typeof url !== "string" || url === "") return ["url must be a non-empty string"];
  if (isDataUrl(url)) return dataProblems(url, part, desk);
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return isWeb ? [] : ["url must be an http, https or data address"];
}

function dataProblems(url: string, part: Readonly<Record<string, unknown>>, desk: Desk): readonly string[] {
  const bytes = bytesIn64(url) ?? 0; // before it is read: what is too large is not decoded to be told so
  if (bytes > desk.limits.contentBytes) return sizeProblems("url", bytes, desk);
  const read = readDataUrl(url);
  if (!read.ok) return [`url cannot be read: ${read.problem}`];
  return [...formProblems(url, part), ...sizeProblems("url", read.body.length, desk)];
}

/** K5. */
function formProblems(url: string, { type, mediaType }: Readonly<Record<string, unknown>>): readonly string[] {
  const said = saidOf(url);
  const isOther = isMediaType(mediaType) && !["", bareType(mediaType)].includes(said.mediaType);
  return [
    ...(type === "image" && !said.is64 ? ["url must hold an image as base64: data:image/png;base64,…"] : []),
    ...(said.is64 && !said.isPlain ? ["url must be standard base64: with + and /, filled up with ="] : []),
    ...(isOther ? ["url names another media type than mediaType"] : []),
  ];
}

function sizeProblems(what: string, bytes: number, { limits }: Desk): readonly string[] {
  if (bytes === 0) return [`${what} is empty`];
  return bytes <= limits.contentBytes ? [] : [`${what} has ${bytes} bytes, the limit is ${limits.contentBytes}`];
}

interface Taken {
  readonly parts: readonly Part[];
  readonly contents: readonly NewContent[];
}

/** A message holds at most a megabyte, whatever the limits say. */
const mostInline = 512 * 1024;

/** The parts of one message, whose problems were looked for before. */
export function takeFiles(given: readonly NewPart[], desk: Desk): Taken {
  const contents: NewContent[] = [];
  let room = Math.min(desk.limits.inlineBytes, mostInline);
  const parts = given.map((part): Part => {
    const file = fileIn(part);
    if (!file) return part as Part;
    const { body, head } = file;
    const { mediaType } = head;
    if (body.length <= room) {
      room -= body.length;
      return { ...head, url: dataUrl(mediaType, body) };
    }
    const hash = desk.hash.sha256(body);
    contents.push({ scope: desk.scope, hash, mediaType, body });
    return { ...head, content: { hash, bytes: body.length, mediaType } };
  });
  return { parts, contents };
}

interface WithBytes {
  /** A copy: who gives bytes may change them. */
  readonly body: Uint8Array;
  /** What else it has. */
  readonly head: { readonly type: "file"; readonly mediaType: string };
}

function fileIn(part: NewPart): WithBytes | undefined {
  if (part.type !== "image" && part.type !== "file") return undefined;
  const { url, body, ...rest } = part as NewFile & { readonly url?: string };
  const head = rest as WithBytes["head"]; // an image is stored like a file
  if (body) return { body: Uint8Array.from(body), head };
  const read = url !== undefined && isDataUrl(url) ? readDataUrl(url) : undefined;
  return read?.ok ? { body: read.body, head } : undefined;
}

/** K4. */
export async function keepContents(contents: readonly NewContent[], desk: Desk): Promise<void> {
  for (const content of contents) {
    await written(`Keeping content ${content.hash}`, desk, () => desk.store.putContent(content));
  }
}
