/**
 * What went wrong with one request, in the terms that the turn decides by. The protocol package throws plain errors for
 * much of it, so what the fetch saw is noted beside.
 *
 * R1 `not-taken` is said only where the other side has said so itself, or nothing was sent.
 */
import { A2A_ERROR_CODE, A2AError, isJsonRpcError } from "@a2a-js/sdk/errors";
import { isHoldfastError } from "../../domain/errors.ts";
import { shortened } from "../../domain/json.ts";
import type { Hide } from "./hide.ts";

/** What the fetch has seen of a request. */
export interface Note {
  status?: number;
  error?: unknown;
}

export type FailureKind =
  /** Nothing of the message is at the other side. */
  | "not-taken"
  /** The same, because it does not know the method. */
  | "unsupported"
  /** It has no such task (any more). */
  | "gone"
  /** An answer came and is larger than what is taken. */
  | "too-large"
  /** It will not answer otherwise: refused, not allowed, not understood. */
  | "refused"
  /** Later it may go better. */
  | "broken";

export class RemoteFailure extends Error {
  readonly kind: FailureKind;
  readonly status: number | undefined;

  constructor(
    kind: FailureKind,
    message: string,
    more: { readonly cause?: unknown; readonly status?: number | undefined } = {},
  ) {
    super(message, { cause: more.cause });
    this.name = "RemoteFailure";
    this.kind = kind;
    this.status = more.status;
  }
}

/** Only our own errors stay as causes: the package's repeat whole answers. */
export function readFailure(error: unknown, note: Note, hide: Hide): RemoteFailure {
  const cause = note.error ?? ourOwnIn(error);
  const said = saidIn(error);
  const text = said?.message ?? String((cause as { readonly message?: unknown })?.message ?? cause);
  const kept = isHoldfastError(cause) ? { cause } : {};
  return new RemoteFailure(kindOf(cause, said, note), shortened(hide(text)), { ...kept, status: note.status });
}

/** What our fetch threw while the answer was being read is sometimes wrapped by the package. */
function ourOwnIn(error: unknown): unknown {
  const inner = (error as { readonly cause?: unknown } | undefined)?.cause;
  return isHoldfastError(inner) ? inner : error;
}

/** An error that the other side has sent as one of the protocol's own, also from within a stream. */
function saidIn(error: unknown): A2AError | undefined {
  if (error instanceof A2AError) return error;
  const inner = (error as { readonly cause?: unknown } | undefined)?.cause;
  return inner instanceof A2AError ? inner : undefined;
}

function kindOf(cause: unknown, said: A2AError | undefined, { status }: Note): FailureKind {
  if (isHoldfastError(cause, "fetch-too-large")) return "too-large";
  if (isHoldfastError(cause)) return cause.details.sent === false ? "not-taken" : brokenOr(cause.retry === "never");
  const kind = said === undefined ? "broken" : kindSaid(said);
  return kind === "broken" && status !== undefined ? kindOfStatus(status) : kind;
}

function brokenOr(isFinal: boolean): FailureKind {
  return isFinal ? "refused" : "broken";
}

const notTaken: readonly string[] = [
  "CONTENT_TYPE_NOT_SUPPORTED",
  "EXTENSION_SUPPORT_REQUIRED",
  "VERSION_NOT_SUPPORTED",
  "INVALID_PARAMS",
];
const notUnderstood: readonly number[] = [
  A2A_ERROR_CODE.PARSE_ERROR,
  A2A_ERROR_CODE.INVALID_REQUEST,
  A2A_ERROR_CODE.INVALID_PARAMS,
];

/** An internal error says nothing about how far it had come. */
function kindSaid(said: A2AError): FailureKind {
  const code = isJsonRpcError(said) ? said.envelopeCode : undefined;
  if (code === A2A_ERROR_CODE.METHOD_NOT_FOUND) return "unsupported";
  if (said.reason === "UNSUPPORTED_OPERATION") return "unsupported";
  if (said.reason === "TASK_NOT_FOUND") return "gone";
  if (said.reason === "TASK_NOT_CANCELABLE") return "refused";
  return notTaken.includes(said.reason) || (code !== undefined && notUnderstood.includes(code))
    ? "not-taken"
    : "broken";
}

/** 408 is said by proxies that had passed it on; of 5xx nobody knows. */
function kindOfStatus(status: number): FailureKind {
  if (status === 501) return "unsupported";
  return status >= 400 && status < 500 && status !== 408 ? "not-taken" : "broken";
}
