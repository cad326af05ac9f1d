/**
 * How an attempt ended, and what becomes of its value: it is in the journal, or content when it is too large for it.
 *
 * T4 A result that cannot be stored is told as such, never dropped and never stored half.
 * T5 Content is put before the settlement that cites it (K1). A cut in between leaves bytes that nobody cites, and an
 *    attempt that was never settled.
 */
import { errorResult } from "../domain/apply-call.ts";
import { type ContentBody, type ContentResult, contentResult, previewOf } from "../domain/content.ts";
import { describeFile, fileOf } from "../domain/file-part.ts";
import type { Scope } from "../domain/ids.ts";
import { type JsonCheck, messageOf, shortened, toJson, valueLimits } from "../domain/json.ts";
import type { CallErrorCode, CallResult, ContentRef, ShownPart } from "../domain/message.ts";
import { toldToModel } from "../domain/tool.ts";
import type { Hash } from "../ports/hash.ts";
import type { EngineDeps } from "./deps.ts";
import type { EngineLimits } from "./limits.ts";
import { insist } from "./retry.ts";
import type { Fact } from "./work.ts";

export type Ended = Pick<Extract<Fact, { kind: "tool-settled" }>, "settled" | "result" | "writes">;

type Body = ContentBody & { readonly hash: string };

/** Its result refers to bytes that are not put yet. */
interface Bulky extends Ended {
  readonly bodies: readonly Body[];
}

export interface Shelf {
  readonly hash: Hash;
  readonly limits: Pick<EngineLimits, "inlineBytes" | "contentBytes" | "previewBytes">;
}

type Valued = Extract<CallResult, { kind: "value" }>;

/** What becomes of a value, or of what the model is told of it: a piece of the result, and bytes to put. */
interface Kept<Piece> {
  readonly piece: Piece;
  readonly bodies: readonly Body[];
}

/** Without a shelf there is only the journal. */
export function valueEnd(value: unknown, shelf?: Shelf): Ended | Bulky {
  const told = toldToModel(value);
  const kept = keptValue(told ? told.value : value, shelf);
  if ("settled" in kept) return kept;
  const said = told ? keptSay(told.say, shelf) : { piece: {}, bodies: [] };
  if ("settled" in said) return said;
  const { preview, ...result } = kept.piece;
  const words = said.piece.say ?? preview;
  const bodies = [...kept.bodies, ...said.bodies];
  const total = bodies.reduce((sum, { body }) => sum + body.length, 0);
  if (shelf && total > shelf.limits.contentBytes) return tooLarge(total, shelf);
  const ended = doneEnd({ ...result, ...(words === undefined ? {} : { say: words }), ...said.piece });
  return bodies.length === 0 ? ended : { ...ended, bodies };
}

/** `preview`: what the model reads where it is told nothing else. */
type Value = Pick<Valued, "kind" | "value" | "content"> & { readonly preview?: string };

function keptValue(value: unknown, shelf: Shelf | undefined): Kept<Value> | Ended {
  const content = contentResult(value);
  if (content) return keptContent(content, shelf);
  const most = shelf?.limits.contentBytes ?? valueLimits.maxBytes;
  const json = toJson(value, { ...valueLimits, maxBytes: most });
  if (!json.ok) return unstorable("its result", json);
  if (!shelf || json.bytes <= shelf.limits.inlineBytes)
    return { piece: { kind: "value", value: json.value }, bodies: [] };
  const body = new TextEncoder().encode(JSON.stringify(json.value));
  return onShelf({ mediaType: "application/json", body }, shelf);
}

function keptContent(given: ContentResult, shelf: Shelf | undefined): Kept<Value> | Ended {
  if (!shelf) return noShelf();
  const kept = onShelf(bodyOf(given), shelf);
  return given.say === undefined ? kept : { ...kept, piece: { ...kept.piece, preview: shortened(given.say) } };
}

function onShelf(given: ContentBody, shelf: Shelf): Kept<Value> {
  const { content, body } = shelvedAs(given, shelf);
  const preview = previewOf(given, content, shelf.limits.previewBytes);
  return { piece: { kind: "value", value: null, content, preview }, bodies: [body] };
}

function shelvedAs(given: ContentBody, { hash }: Shelf): { readonly content: ContentRef; readonly body: Body } {
  const { mediaType, body } = given;
  const content = { hash: hash.sha256(body), bytes: body.length, mediaType };
  return { content, body: { hash: content.hash, mediaType, body } };
}

function bodyOf({ mediaType, body }: ContentResult): ContentBody {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body.toWellFormed()) : Uint8Array.from(body);
  return { mediaType, body: bytes };
}

type Said = Pick<Valued, "say" | "shown">;

/** Words, or words and files in one list: files are shown to a model that reads them, and named in the words. */
function keptSay(said: unknown, shelf: Shelf | undefined): Kept<Said> | Ended {
  const items: readonly unknown[] = Array.isArray(said) ? said : [said];
  const shown: ShownPart[] = [];
  const bodies: Body[] = [];
  const words: unknown[] = [];
  for (const item of items) {
    const given = contentResult(item);
    if (!given) {
      words.push(item);
      continue;
    }
    if (!shelf) return noShelf();
    const { content, body } = shelvedAs(bodyOf(given), shelf);
    const part = fileOf(content);
    if (content.bytes > 0) {
      shown.push(part);
      bodies.push(body);
    }
    words.push(given.say === undefined ? `(${describeFile(part)})` : shortened(given.say));
  }
  const json = toJson(Array.isArray(said) ? words.map(String).join("\n") : said);
  if (!json.ok) return unstorable("what it tells the model", json);
  return { piece: { say: String(json.value), ...(shown.length === 0 ? {} : { shown }) }, bodies };
}

function noShelf(): Ended {
  return refusedEnd("invalid-result", "content cannot be put in a transaction; answer with a value");
}

function tooLarge(bytes: number, { limits }: Shelf): Ended {
  const problem = `${bytes} bytes of content, the limit is ${limits.contentBytes}`;
  return unstorable("its result", { ok: false, path: "$", problem });
}

function doneEnd(result: CallResult): Ended {
  return { settled: { kind: "done" }, result };
}

function unstorable(what: string, { problem, path }: Extract<JsonCheck, { ok: false }>): Ended {
  return refusedEnd("invalid-result", shortened(`The tool ran, but ${what} cannot be stored: ${problem} at ${path}`));
}

export function refusedEnd(code: CallErrorCode, message: string): Ended {
  return { settled: { kind: "refused", code, message }, result: errorResult(code, message) };
}

type ShelfPorts = Pick<EngineDeps, "store" | "clock" | "logger"> & { readonly lost: AbortSignal };

/** T5. What the store refuses is told, for the tool has run all the same. */
export async function shelved(
  ended: Ended | Bulky,
  place: { readonly scope: Scope; readonly call: string },
  ports: ShelfPorts,
): Promise<Ended> {
  if (!("bodies" in ended)) return ended;
  const { bodies, ...lean } = ended; // without the bytes: as it is written
  try {
    await putBodies(`Content of call ${place.call}`, { scope: place.scope, bodies }, ports);
    return lean;
  } catch (cause) {
    if (ports.lost.aborted) throw cause;
    return refusedEnd("invalid-result", `The tool ran, but its result was not kept: ${messageOf(cause)}`);
  }
}

/** Each, however long the store takes; throws when it refuses one. */
export async function putBodies(
  what: string,
  { scope, bodies }: { readonly scope: Scope; readonly bodies: readonly Body[] },
  { store, clock, logger, lost: signal }: ShelfPorts,
): Promise<void> {
  for (const body of bodies) {
    await insist(what, { clock, logger, signal }, () => store.putContent({ scope, ...body }));
  }
}
