/** What is said when a request does not come to a good end: what was attempted, why, and whether anything was sent. */
import { HoldfastError } from "../../domain/errors.ts";

export interface Attempt {
  readonly method: string;
  readonly url: URL;
  /** Whose redirect this is; undefined for what the caller asked for. */
  readonly from: URL | undefined;
}

export interface Failure {
  readonly attempt: Attempt;
  readonly why: string;
  /** False only when it is certain that the other side has not taken the request. */
  readonly sent: boolean;
  readonly cause?: unknown;
}

type FailureCode = "fetch-timeout" | "fetch-unreachable" | "fetch-too-large" | "fetch-refused";

export function failure(code: FailureCode, { attempt, why, sent, cause }: Failure): HoldfastError {
  const { method, url, from } = attempt;
  const led = from === undefined ? "" : ` (a redirect of ${shownUrl(from)})`;
  const ended = code === "fetch-refused" ? "was refused" : "failed";
  return new HoldfastError(code, `${method} ${shownUrl(url)}${led} ${ended}: ${why}`, {
    cause,
    details: { url: shownUrl(url), sent },
  });
}

/** Without the query and the user: keys are sometimes there. */
export function shownUrl(url: URL): string {
  return url.host === "" ? url.protocol : `${url.protocol}//${url.host}${url.pathname}`;
}

export function textOf(cause: unknown): string {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  return String(typeof code === "string" ? code : (message ?? cause));
}
