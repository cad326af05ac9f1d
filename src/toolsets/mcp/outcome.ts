/**
 * What an error of a call says about the call.
 *
 * O1 Nothing happened only where that is certain: the call was not handed over, it never arrived, or HTTP refused it at the
 *    door, before anybody read it. Everything else leaves it open.
 * O2 An error with the call's id is an answer to the call, whatever its code: servers check what their tools return, so it
 *    may come after the tool has run. It leaves the call open, also in the body of an HTTP refusal.
 * O3 A call may take several requests, when the server asks for something in between. After the first of them it may have
 *    run, and no refusal says otherwise.
 */
import { ProtocolError, SdkHttpError } from "@modelcontextprotocol/client";
import { carries, messageOf } from "../../domain/json.ts";

export type CallEnd =
  /** It has not left this process, or no connection came about: it may be sent over another one. */
  | { readonly kind: "unsent"; readonly why: string }
  /** The server says that it does not know our session: by the protocol, begin another one and ask again. */
  | { readonly kind: "forgotten"; readonly why: string }
  | { readonly kind: "refused"; readonly why: string }
  /** The server has answered with an error, which does not say what was done before. There is nothing to ask again. */
  | { readonly kind: "error"; readonly why: string; readonly isStale?: boolean }
  /** With `isStale` the session may be lost too: the next call begins another one. */
  | { readonly kind: "open"; readonly why: string; readonly isStale?: boolean };

/** What the guard says when the stream of an answer ended without one. */
export const streamEndedCode: number = -32_000;

/** Refused at the door. 5xx and 408 may come from somebody who has passed the call on, 400 from a tool. */
const refusedStatuses: readonly number[] = [401, 403, 404, 405, 406, 413, 415, 421, 429];

export interface Ended {
  readonly cause: unknown;
  /** Requests of the call that may have arrived. */
  readonly sent: number;
  /** Whether the server had given us a session, which it may have lost. */
  readonly hasSession: boolean;
}

/** O1. */
export function endOfCall({ cause, sent, hasSession }: Ended): CallEnd {
  const why = messageOf(cause);
  if (sent === 0) return { kind: "unsent", why };
  if (ProtocolError.isInstance(cause) && cause.code !== streamEndedCode) {
    return { kind: "error", why: errorWords(`${cause.code}: ${cause.message}`) }; // O2
  }
  return SdkHttpError.isInstance(cause) ? endByStatus(cause, sent, hasSession) : { kind: "open", why };
}

function endByStatus(cause: SdkHttpError, sent: number, hasSession: boolean): CallEnd {
  const { status } = cause;
  const text = typeof cause.data.text === "string" ? cause.data.text : "";
  const isStale = hasSession && (status === 404 || status === 400);
  const body = bodyOf(text);
  if (body === "answer") return { kind: "error", why: errorWords(`HTTP ${status}: ${text}`), isStale }; // O2
  // Servers that have lost a session answer 404, as they should, or 400 with an error that names no request.
  const isAtDoor = refusedStatuses.includes(status) || (status === 400 && body === "error-to-nobody");
  if (!isAtDoor || sent > 1) return { kind: "open", why: messageOf(cause), isStale }; // O3
  if (isStale) return { kind: "forgotten", why: messageOf(cause) };
  return { kind: "refused", why: `the server refused it (HTTP ${status})` };
}

function errorWords(error: string): string {
  return `the server answered with an error, which does not say whether the tool ran before it (${error})`;
}

/**
 * A request that is refused may be answered with an error of JSON-RPC. One that names no request (null, or a word, for our
 * ids are numbers) was said before the request was read.
 */
function bodyOf(text: string): "answer" | "error-to-nobody" | "other" {
  try {
    const body: unknown = JSON.parse(text);
    if (Array.isArray(body)) return "answer";
    if (!carries(body, "jsonrpc")) return "other";
    const { id } = body as { id?: unknown };
    return id === undefined || id === null || Number.isNaN(Number(id)) ? "error-to-nobody" : "answer";
  } catch {
    return "other";
  }
}

const notSentCode = "HOLDFAST_NOT_SENT";

/** An error of a transport that has not even tried. */
export function notSent(why: string): Error {
  return Object.assign(new Error(why), { code: notSentCode });
}

const beforeArrival: readonly string[] = [
  notSentCode,
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
];

/** No connection came about. A reset one may have carried the call. */
export function neverArrived(cause: unknown, depth = 0): boolean {
  if (typeof cause !== "object" || cause === null || depth > 4) return false;
  const { code, errors, cause: inner } = cause as { code?: unknown; errors?: unknown; cause?: unknown };
  if (Array.isArray(errors) && errors.length > 0) return errors.every((each) => neverArrived(each, depth + 1));
  if (typeof code === "string" && beforeArrival.includes(code)) return true;
  return neverArrived(inner, depth + 1);
}
