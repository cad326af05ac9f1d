/**
 * What an error of a call says about the call.
 *
 * O1 Nothing happened only where that is certain: the call was not handed over, it never arrived, or the server refused it
 *    by the rules of HTTP or of the protocol. Everything else leaves it open.
 */
import { ProtocolError, SdkHttpError } from "@modelcontextprotocol/client";
import { messageOf } from "../../domain/json.ts";

export type CallEnd =
  /** It has not left this process, or no connection came about: it may be sent over another one. */
  | { readonly kind: "unsent"; readonly why: string }
  /** The server says that it does not know our session: by the protocol, begin another one and ask again. */
  | { readonly kind: "forgotten"; readonly why: string }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "open"; readonly why: string };

/** Parse error, invalid request, method not found, invalid params; header mismatch, missing capability, other version. */
const refusals: readonly number[] = [-32_700, -32_600, -32_601, -32_602, -32_020, -32_021, -32_022];
/** Refused at the door. 5xx and 408 may come from somebody who has passed the call on. */
const refusedStatuses: readonly number[] = [400, 401, 403, 404, 405, 406, 413, 415, 421, 429];
const forgotten: readonly number[] = [400, 404];

export interface Ended {
  readonly cause: unknown;
  readonly sent: boolean;
  /** Whether the server had given us a session, which it may have lost. */
  readonly hasSession: boolean;
}

/** O1. */
export function endOfCall({ cause, sent, hasSession }: Ended): CallEnd {
  const why = messageOf(cause);
  if (!sent) return { kind: "unsent", why };
  const status = statusOf(cause);
  if (status !== undefined && hasSession && forgotten.includes(status)) return { kind: "forgotten", why };
  if (status !== undefined && refusedStatuses.includes(status)) {
    return { kind: "refused", why: `the server refused it (HTTP ${status})` };
  }
  if (ProtocolError.isInstance(cause) && refusals.includes(cause.code)) {
    return { kind: "refused", why: `the server refused it: ${cause.message}` };
  }
  return { kind: "open", why };
}

function statusOf(cause: unknown): number | undefined {
  return SdkHttpError.isInstance(cause) ? cause.status : undefined;
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
