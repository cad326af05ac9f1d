/**
 * Content: bytes that are too large, or too raw, for the journal. They are kept by their hash, and entries refer to them.
 *
 * K1 What an entry refers to was put before it was written, and is cited in the same commit: it stays as long as the run.
 * K2 The model reads the beginning and is told so; the bytes stay whole.
 */
import { HoldfastError } from "./errors.ts";
import { carries } from "./json.ts";
import type { ContentRef } from "./message.ts";
import { Problems } from "./problems.ts";

export interface ContentBody {
  readonly mediaType: string;
  readonly body: Uint8Array;
}

/** K2. */
export function previewOf({ mediaType, body }: ContentBody, ref: ContentRef, most: number): string {
  const what = `the whole result is ${ref.bytes} bytes of ${mediaType}, kept as content ${ref.hash}`;
  if (!isText(mediaType)) return `[Not shown: ${what}]`;
  return `[Shortened: ${what}; this is its beginning]\n${beginning(body, most)}`;
}

function isText(mediaType: string): boolean {
  return mediaType.startsWith("text/") || /^application\/(.*\+)?(json|xml|yaml)\b/.test(mediaType);
}

/** Without the half of a character that a cut may leave. */
function beginning(body: Uint8Array, most: number): string {
  const decoded = new TextDecoder().decode(body.subarray(0, most), { stream: body.length > most });
  return decoded.toWellFormed();
}

const brand = Symbol.for("holdfast.content");

export interface ContentResult {
  readonly mediaType: string;
  readonly body: Uint8Array | string;
  readonly say?: string;
  readonly [brand]: true;
}

export interface ContentOptions {
  /** "text/plain" of a string and "application/octet-stream" of bytes unless said. */
  readonly mediaType?: string;
  /** What the model is told instead of the beginning. */
  readonly say?: string;
}

const mediaTypePattern = /^[\w.+-]{1,64}\/[\w.+-]{1,64}( *; *[\w.+=" -]{1,100})*$/;

export function isMediaType(type: unknown): type is string {
  return typeof type === "string" && mediaTypePattern.test(type);
}

/** A result that is kept as content, whatever its size: a file, an image, a long text. */
export function asContent(body: Uint8Array | string, options: ContentOptions = {}): ContentResult {
  const problems = new Problems(options, ["mediaType", "say"]);
  if (typeof body !== "string" && !(body instanceof Uint8Array)) problems.add("body: must be a string or a Uint8Array");
  problems.optional("mediaType", isMediaType, "must be a media type");
  problems.optional("say", (say) => typeof say === "string", "must be a string");
  problems.refuse("invalid-content", "This cannot be content");
  const { mediaType = typeof body === "string" ? "text/plain" : "application/octet-stream", say } = options;
  return { body, mediaType, ...(say === undefined ? {} : { say }), [brand]: true };
}

export function contentResult(value: unknown): ContentResult | undefined {
  return carries(value, brand) ? (value as ContentResult) : undefined;
}

export function contentNotFound(hash: string, why: string): HoldfastError {
  return new HoldfastError("content-not-found", `Content ${hash} cannot be read: ${why}`, { details: { hash } });
}

/** A hash is a name that anybody can check, so whoever keeps bytes checks it. */
export function checkHash({ scope, hash }: { readonly scope: string; readonly hash: string }, actual: string): void {
  if (actual === hash) return;
  const message = `Content was put as ${hash}, but its bytes have the hash ${actual}`;
  throw new HoldfastError("content-hash-mismatch", message, { details: { scope, hash, actual } });
}
