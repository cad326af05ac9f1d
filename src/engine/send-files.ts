/**
 * The images and files of a model call: their bytes are read and put into the request, for adapters know no store.
 *
 * V1 Bytes are read for messages that are sent, and for no others; each content once in a claim while the cache has room.
 * V2 A model that does not read what people have given is not called, whoever put it into the request.
 * V3 More bytes than a call may carry: the oldest are named instead. Those of the newest message that has any are never left
 *    out: the call is not made.
 * V4 Content that is gone or damaged fails the call by name, before anything is sent.
 */
import { contentNotFound } from "../domain/content.ts";
import { HoldfastError } from "../domain/errors.ts";
import { type AnyFile, describeFile, isFile } from "../domain/file-part.ts";
import type { ContentRef, Message, Part } from "../domain/message.ts";
import { readable, shownAfter, unreadable } from "../domain/modality.ts";
import type { ModelDescription } from "../domain/model.ts";
import type { ModelRequest } from "../ports/provider.ts";
import { persist } from "./retry.ts";
import type { Stage } from "./stage.ts";

type Files = Pick<Stage, "store" | "clock" | "logger" | "hash" | "scope" | "limits" | "files"> & {
  /** Of the model that is called, or of whoever stands for one. */
  readonly description: Named;
};

type Named = Pick<ModelDescription, "provider" | "model">;

export async function withFiles(
  request: ModelRequest,
  stage: Files & { readonly description: ModelDescription },
  signal: AbortSignal,
): Promise<ModelRequest> {
  const { description } = stage;
  const problem = unreadable(request.messages, description); // V2
  if (problem) throw refused(description, problem);
  const messages = await readFiles(readable(request.messages, description), stage, signal);
  return messages === request.messages ? request : counted(request, messages);
}

/** The same messages with bytes in the place of content; the very same where there is none. */
export async function readFiles(
  given: readonly Message[],
  stage: Files,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const messages = within(given, stage);
  const wanted = contentsIn(messages);
  if (wanted.size === 0) return messages;
  const read = new Map<string, string>();
  for (const content of wanted.values()) read.set(content.hash, await readOne(content, stage, signal));
  return messages.map((message) => withBytes(message, read));
}

export function hasContent(messages: readonly Message[]): boolean {
  return messages.some(({ parts }) => parts.some(isKept));
}

/** What comes again for a provider's cache, with what has been put in between. */
function counted(request: ModelRequest, messages: readonly Message[]): ModelRequest {
  const { cache } = request;
  const last = cache && request.messages[cache.stable - 1]?.id;
  if (!cache || last === undefined) return { ...request, messages };
  const stable = messages.findLastIndex(({ id }) => id === last || id === shownAfter(last)) + 1;
  return { ...request, messages, cache: { ...cache, stable } };
}

function refused({ provider, model }: Named, why: string): HoldfastError {
  return new HoldfastError("model-refused", `${provider}/${model} was not called: ${why}`);
}

type Kept = AnyFile & { readonly content: ContentRef };

function isKept(part: Part): part is Kept {
  return isFile(part) && "content" in part;
}

function contentsIn(messages: readonly Message[]): ReadonlyMap<string, ContentRef> {
  const kept = messages.flatMap(({ parts }) => parts.filter(isKept));
  return new Map(kept.map(({ content }) => [content.hash, content]));
}

/** V3. Twice what one content may have. */
function within(messages: readonly Message[], { limits, description }: Files): readonly Message[] {
  const most = 2 * limits.contentBytes;
  let room = most;
  let isNewest = true;
  let isFull = false;
  const seen = new Set<string>();
  const sent = messages.toReversed().map((message) => {
    const kept = message.parts.filter(isKept);
    if (kept.length === 0) return message;
    for (const { content } of kept) room -= seen.has(content.hash) ? 0 : content.bytes;
    for (const { content } of kept) seen.add(content.hash);
    isFull ||= room < 0;
    if (isFull && isNewest) {
      const why = `message ${message.id} has ${most - room} bytes of images and files, and a call carries ${most}`;
      throw refused(description, why);
    }
    isNewest = false;
    return isFull ? { ...message, parts: message.parts.map(named) } : message;
  });
  return isFull ? sent.toReversed() : messages;
}

function named(part: Part): Part {
  if (!isKept(part)) return part;
  return { type: "text", text: `[Left out, for the conversation has too many bytes: ${describeFile(part)}]` };
}

function withBytes(message: Message, read: ReadonlyMap<string, string>): Message {
  if (!message.parts.some(isKept)) return message;
  const parts = message.parts.map((part): Part => {
    if (!isKept(part)) return part;
    const { content, ...rest } = part;
    return { ...rest, url: `data:${part.mediaType};base64,${read.get(content.hash) ?? ""}` };
  });
  return { ...message, parts };
}

/** V1, V4. */
async function readOne({ hash }: ContentRef, stage: Files, signal: AbortSignal): Promise<string> {
  const known = stage.files.get(hash);
  if (known !== undefined) return known;
  const { scope, store, clock, logger } = stage;
  const found = await persist(`Reading content ${hash}`, { clock, logger, signal }, () =>
    store.content({ scope, hash }),
  );
  if (!found) throw contentNotFound(hash, `a message refers to it, and scope ${scope} has none of this hash`);
  if ("place" in found) {
    throw contentNotFound(
      hash,
      "its bytes are not in the store; give this worker the `content` option of whoever put them",
    );
  }
  if (stage.hash.sha256(found.body) !== hash) {
    const message = `Content ${hash} is not what was put: its bytes have another hash now`;
    throw new HoldfastError("content-hash-mismatch", message, { details: { hash } });
  }
  const { buffer, byteOffset, byteLength } = found.body;
  const text = Buffer.from(buffer, byteOffset, byteLength).toString("base64");
  stage.files.add(hash, text);
  return text;
}
