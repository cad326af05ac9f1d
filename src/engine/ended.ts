/**
 * How an attempt ended, and what becomes of its value: it is in the journal, or content when it is too large for it.
 *
 * T4 A result that cannot be stored is told as such, never dropped and never stored half.
 * T5 Content is put before the settlement that cites it (K1). A cut in between leaves bytes that nobody cites, and an
 *    attempt that was never settled.
 */
import { errorResult } from "../domain/apply-call.ts";
import { type ContentBody, type ContentResult, contentResult, previewOf } from "../domain/content.ts";
import type { Scope } from "../domain/ids.ts";
import { type JsonCheck, messageOf, shortened, toJson, valueLimits } from "../domain/json.ts";
import type { CallErrorCode, CallResult } from "../domain/message.ts";
import { toldToModel } from "../domain/tool.ts";
import type { Hash } from "../ports/hash.ts";
import type { EngineDeps } from "./deps.ts";
import type { EngineLimits } from "./limits.ts";
import { insist } from "./retry.ts";
import type { Fact } from "./work.ts";

export type Ended = Pick<Extract<Fact, { kind: "tool-settled" }>, "settled" | "result" | "writes">;

/** Its result refers to bytes that are not put yet. */
interface Bulky extends Ended {
  readonly body: ContentBody & { readonly hash: string };
}

export interface Shelf {
  readonly hash: Hash;
  readonly limits: Pick<EngineLimits, "inlineBytes" | "contentBytes" | "previewBytes">;
}

/** Without a shelf there is only the journal. */
export function valueEnd(value: unknown, shelf?: Shelf): Ended | Bulky {
  const content = contentResult(value);
  if (content) return contentEnd(content, shelf);
  const told = toldToModel(value);
  const most = shelf?.limits.contentBytes ?? valueLimits.maxBytes;
  const json = toJson(told ? told.value : value, { ...valueLimits, maxBytes: most });
  if (!json.ok) return unstorable("its result", json);
  const said = told ? toJson(told.say) : undefined;
  if (said && !said.ok) return unstorable("what it tells the model", said);
  const say = said ? { say: String(said.value) } : {};
  if (!shelf || json.bytes <= shelf.limits.inlineBytes) return doneEnd({ kind: "value", value: json.value, ...say });
  const body = new TextEncoder().encode(JSON.stringify(json.value));
  return bulkyEnd({ mediaType: "application/json", body, ...say }, shelf);
}

function contentEnd({ mediaType, body: given, say }: ContentResult, shelf: Shelf | undefined): Ended | Bulky {
  if (!shelf) return refusedEnd("invalid-result", "content cannot be put in a transaction; answer with a value");
  const body = typeof given === "string" ? new TextEncoder().encode(given.toWellFormed()) : Uint8Array.from(given);
  const most = shelf.limits.contentBytes;
  const problem = `${body.length} bytes of content, the limit is ${most}`;
  if (body.length > most) return unstorable("its result", { ok: false, path: "$", problem });
  return bulkyEnd({ mediaType, body, ...(say === undefined ? {} : { say: shortened(say) }) }, shelf);
}

function bulkyEnd(given: ContentBody & { readonly say?: string }, { hash, limits }: Shelf): Bulky {
  const { mediaType, body } = given;
  const content = { hash: hash.sha256(body), bytes: body.length, mediaType };
  const { say = previewOf(given, content, limits.previewBytes) } = given;
  return { ...doneEnd({ kind: "value", value: null, say, content }), body: { hash: content.hash, mediaType, body } };
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

/** Without the bytes: as it is written. */
function lean(ended: Ended | Bulky): Ended {
  if (!("body" in ended)) return ended;
  const { body: _, ...rest } = ended;
  return rest;
}

type ShelfPorts = Pick<EngineDeps, "store" | "clock" | "logger"> & { readonly lost: AbortSignal };

/** T5. What the store refuses is told, for the tool has run all the same. */
export async function shelved(
  ended: Ended | Bulky,
  place: { readonly scope: Scope; readonly call: string },
  ports: ShelfPorts,
): Promise<Ended> {
  if (!("body" in ended)) return ended;
  const { store, clock, logger, lost: signal } = ports;
  const content = { scope: place.scope, ...ended.body };
  try {
    await insist(`Content of call ${place.call}`, { clock, logger, signal }, () => store.putContent(content));
    return lean(ended);
  } catch (cause) {
    if (signal.aborted) throw cause;
    return refusedEnd("invalid-result", `The tool ran, but its result was not kept: ${messageOf(cause)}`);
  }
}
