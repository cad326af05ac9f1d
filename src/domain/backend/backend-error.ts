/**
 * Errors of backends. Each of these says that no work goes on for this message at the other side: it was not taken, or it is
 * over. Whatever else a backend throws leaves that open, and the turn's outcome is unknown.
 */
import { type ErrorCode, HoldfastError, isHoldfastError } from "../errors.ts";

const prefixes = {
  "backend-agent-not-found": "agent not found",
  "backend-execution-failed": "execution failed",
  "backend-remote-error": "remote error",
} as const satisfies Partial<Record<ErrorCode, string>>;

export type BackendErrorCode = keyof typeof prefixes;

export function backendError(
  code: BackendErrorCode,
  text: string,
  more: { readonly cause?: unknown; readonly problems?: readonly string[] } = {},
): HoldfastError {
  return new HoldfastError(code, `${prefixes[code]}: ${text}`, more);
}

export function isBackendError(error: unknown): error is HoldfastError {
  return isHoldfastError(error) && Object.hasOwn(prefixes, error.code);
}

/** Without the prefix of its kind; what is no backend's error, as it is. */
export function bareText(error: HoldfastError): string {
  const prefix = isBackendError(error) ? `${prefixes[error.code as BackendErrorCode]}: ` : "";
  return error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message;
}
