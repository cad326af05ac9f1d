/**
 * Files that a model has made: their bytes become content, which is put before the reply that refers to it is settled (K1).
 *
 * F1 A file whose bytes cannot be read breaks the reply's protocol; one that is too large to be kept is refused for good, for
 *    trying again would only pay for it again.
 */
import { type ContentBody, isMediaType } from "../domain/content.ts";
import { HoldfastError } from "../domain/errors.ts";
import { isDataUrl, readDataUrl } from "../domain/file-part.ts";
import type { FilePart, Part } from "../domain/message.ts";
import type { ModelPart } from "../ports/provider.ts";
import { putBodies, type Shelf } from "./ended.ts";
import type { Stage } from "./stage.ts";

type GivenFile = Extract<ModelPart, { type: "file" }>;
type Body = ContentBody & { readonly hash: string };

export interface ReplyFiles {
  /** As a part of the message. */
  take(file: GivenFile): FilePart;
  /** What the parts refer to. */
  bodiesOf(parts: readonly Part[]): readonly Body[];
}

/** Of one that can be looked at without its bytes. */
export function fileProblem(file: GivenFile): string | undefined {
  if (!isMediaType(file.mediaType)) return "a file without a media type";
  if (typeof file.url !== "string" || file.url === "") return "a file without an address";
  if (!isDataUrl(file.url)) return undefined;
  const read = readDataUrl(file.url);
  if (!read.ok) return `a file that cannot be read: ${read.problem}`;
  return read.body.length === 0 ? "a file without bytes" : undefined;
}

export function openReplyFiles({ hash, limits }: Pick<Shelf, "hash" | "limits">): ReplyFiles {
  const bodies = new Map<string, Body>();
  let room = limits.contentBytes;
  return {
    take({ mediaType, url, name, metadata }) {
      const head = {
        type: "file",
        mediaType,
        ...(typeof name === "string" ? { name } : {}),
        ...(metadata ? { metadata } : {}),
      } as const;
      const read = isDataUrl(url) ? readDataUrl(url) : undefined;
      if (!read?.ok) return { ...head, url };
      const { body } = read;
      room -= body.length;
      if (room < 0) throw tooLarge(limits.contentBytes - room, limits.contentBytes);
      const content = { hash: hash.sha256(body), bytes: body.length, mediaType };
      bodies.set(content.hash, { hash: content.hash, mediaType, body });
      return { ...head, content };
    },
    bodiesOf: (parts) =>
      parts.flatMap((part) => {
        const body = part.type === "file" && "content" in part ? bodies.get(part.content.hash) : undefined;
        return body ? [body] : [];
      }),
  };
}

/** F1. */
function tooLarge(bytes: number, most: number): HoldfastError {
  const what = `The reply has files of ${bytes} bytes, and at most ${most} are kept`;
  return new HoldfastError("model-refused", `${what}; ask for smaller ones, or raise limits.contentBytes`);
}

/** K1. */
export async function putFiles(parts: readonly Part[], files: ReplyFiles, stage: Stage): Promise<void> {
  const bodies = files.bodiesOf(parts);
  if (bodies.length > 0) await putBodies("Files of a reply", { scope: stage.scope, bodies }, stage);
}
