/**
 * The files of an answer (images, sounds, blobs): content instead of base64 in the result, and shown to a model that reads
 * them. A program finds the bytes by the reference.
 */
import { createHash } from "node:crypto";
import { asContent, type ContentResult, isMediaType } from "../../domain/content.ts";
import type { ContentRef } from "../../domain/message.ts";

/** All of one answer together; what comes after is left out, so that the rest of the answer is not lost. */
const mostBytes = 12 * 1024 * 1024;

export interface Filing {
  /** The same file by its reference; undefined when there is no more room. */
  keep(base64: string, mediaType: string | undefined, words: string): ContentRef | undefined;
  /** What was kept, as the model is shown it. */
  of(content: ContentRef): ContentResult | undefined;
}

export function openFiling(): Filing {
  const kept = new Map<ContentRef, ContentResult>();
  let room = mostBytes;
  return {
    keep(base64, mediaType, words) {
      const file = fileOf(base64, mediaType, words);
      const body = file.body as Uint8Array;
      if (body.length > room) return undefined;
      room -= body.length;
      const hash = createHash("sha256").update(body).digest("hex");
      const content = { hash, bytes: body.length, mediaType: file.mediaType };
      kept.set(content, file);
      return content;
    },
    of: (content) => kept.get(content),
  };
}

/** A server may say any media type. */
export function fileOf(base64: string, mediaType: string | undefined, say: string): ContentResult {
  const known = isMediaType(mediaType) ? mediaType : "application/octet-stream";
  return asContent(new Uint8Array(Buffer.from(base64, "base64")), { mediaType: known, say });
}
