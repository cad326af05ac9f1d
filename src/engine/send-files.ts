/**
 * The images and files of a model call: their bytes are read and put into the request, for adapters know no store.
 *
 * V1 Bytes are read for messages that are sent, and for no others; each content once in a claim while the cache has room.
 * V2 A model that does not read what this run was given is not called, whoever put it into the request.
 * V3 More bytes than a call may carry: older ones are named instead (fit-files.ts). A message of this run that alone has more
 *    fails the call.
 * V4 Content of this run that is gone or damaged fails the call by name, before anything is sent.
 * V5 What was there before this run fails nothing, or its thread would be dead for ever: what cannot be sent of it is named
 *    in words, the same in every call.
 */
import { contentNotFound } from "../domain/content.ts";
import { HoldfastError, isHoldfastError } from "../domain/errors.ts";
import { type AnyFile, isFile, named } from "../domain/file-part.ts";
import { withoutRoom } from "../domain/fit-files.ts";
import type { ContentRef, Message, Part } from "../domain/message.ts";
import { readable, shownAfter, unreadable } from "../domain/modality.ts";
import type { ModelDescription } from "../domain/model.ts";
import type { ModelRequest } from "../ports/provider.ts";
import type { Older } from "./older-messages.ts";
import { persist } from "./retry.ts";
import type { Stage } from "./stage.ts";

type Files = Pick<Stage, "store" | "clock" | "logger" | "hash" | "scope" | "limits" | "files"> & {
  /** Of the model that is called, or of whoever stands for one. */
  readonly description: Named;
  readonly older: Older;
};

type Named = Pick<ModelDescription, "provider" | "model">;

export async function withFiles(
  request: ModelRequest,
  stage: Files & { readonly description: ModelDescription },
  signal: AbortSignal,
): Promise<ModelRequest> {
  const { description, older } = stage;
  const problem = unreadable(request.messages, description, older); // V2
  if (problem) throw refused(description, problem);
  const messages = await readFiles(readable(request.messages, description, older), stage, signal);
  return messages === request.messages ? request : counted(request, messages);
}

/** The same messages with bytes in the place of content; the very same where there is none. */
export async function readFiles(
  given: readonly Message[],
  stage: Files,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const messages = within(given, stage);
  if (!hasContent(messages)) return messages;
  const read = new Map<string, Read>();
  for (const { content, isOlder } of contentsIn(messages, stage.older)) {
    const known = read.get(content.hash);
    if (known === undefined || (!isOlder && known.kind === "missing"))
      read.set(content.hash, await readAny(content, isOlder, { stage, signal }));
  }
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

interface Wanted {
  readonly content: ContentRef;
  readonly isOlder: boolean;
}

function contentsIn(messages: readonly Message[], older: Older): readonly Wanted[] {
  return messages.flatMap(({ id, parts }) =>
    parts.filter(isKept).map(({ content }) => ({ content, isOlder: older.has(id) })),
  );
}

/** V3. Twice what one content may have. */
function within(messages: readonly Message[], { limits, description, older }: Files): readonly Message[] {
  const most = 2 * limits.contentBytes;
  const sized = messages.map((message) => ({ message, bytes: bytesOf(message) }));
  const huge = sized.find(({ message, bytes }) => bytes > most && !older.has(message.id));
  if (huge) {
    const why = `message ${huge.message.id} has ${huge.bytes} bytes of images and files, and a call carries ${most}`;
    throw refused(description, why);
  }
  const out = withoutRoom(sized, most);
  if (out.size === 0) return messages;
  return messages.map((message) => (out.has(message) ? { ...message, parts: message.parts.map(crowdedOut) } : message));
}

function bytesOf({ parts }: Message): number {
  return parts.filter(isKept).reduce((sum, { content }) => sum + content.bytes, 0);
}

function crowdedOut(part: Part): Part {
  return isKept(part) ? named(part, "the conversation has too many bytes") : part;
}

/** In base64; or why there is none. */
type Read = { readonly kind: "bytes"; readonly text: string } | { readonly kind: "missing"; readonly why: string };

function withBytes(message: Message, read: ReadonlyMap<string, Read>): Message {
  if (!message.parts.some(isKept)) return message;
  const parts = message.parts.map((part): Part => {
    if (!isKept(part)) return part;
    const { content, ...rest } = part;
    const found = read.get(content.hash);
    if (found?.kind === "bytes") return { ...rest, url: `data:${part.mediaType};base64,${found.text}` };
    return named(part, found?.why ?? "nobody has read it");
  });
  return { ...message, parts };
}

interface Reading {
  readonly stage: Files;
  readonly signal: AbortSignal;
}

/** V4, V5. A store that cannot be asked, and a worker that was not told where to look, fail every call: nothing is lost. */
async function readAny(content: ContentRef, isOlder: boolean, { stage, signal }: Reading): Promise<Read> {
  try {
    return { kind: "bytes", text: await readOne(content, stage, signal) };
  } catch (cause) {
    const why = isHoldfastError(cause) ? losses[cause.code] : undefined;
    if (!isOlder || why === undefined || (cause as HoldfastError).details?.isElsewhere) throw cause;
    return { kind: "missing", why };
  }
}

const losses: Readonly<Record<string, string>> = {
  "content-not-found": "it is not there any more",
  "content-hash-mismatch": "its bytes are damaged",
};

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
    const message = `Content ${hash} cannot be read: its bytes are not in the store; give this worker the \`content\` option of whoever put them`;
    throw new HoldfastError("content-not-found", message, { details: { hash, isElsewhere: true } });
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
