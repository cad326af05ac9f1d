/** The class of an error: by the name that the AI SDK gives it, by its status and words, or by what the network said. */
import type { ErrorCode } from "../../domain/errors.ts";
import { refusalClass } from "../shared/error-class.ts";
import type { Said } from "./said.ts";

const byName: Readonly<Record<string, ErrorCode>> = {
  AI_LoadAPIKeyError: "model-unauthorized",
  AI_LoadSettingError: "model-refused",
  AI_NoSuchModelError: "model-not-found",
  AI_InvalidPromptError: "model-refused",
  AI_InvalidArgumentError: "model-refused",
  AI_UnsupportedFunctionalityError: "model-refused",
  AI_EmptyResponseBodyError: "model-malformed",
  AI_InvalidResponseDataError: "model-malformed",
  AI_JSONParseError: "model-malformed",
  AI_TypeValidationError: "model-malformed",
  AI_NoContentGeneratedError: "model-malformed",
  TimeoutError: "model-timeout",
};

export function classOf(said: Said): ErrorCode {
  const { name, status, words, isRetryable } = said;
  if (Object.hasOwn(byName, name)) return byName[name] as ErrorCode;
  const refusal = refusalClass(said);
  // Of a refusal that its own code calls passing, the code knows more than the status says.
  if (refusal === "model-refused" && isRetryable && status !== 402) return "model-failed";
  if (refusal) return refusal;
  if (/timeout|timedout/.test(words)) return "model-timeout";
  if (networkReason(said) !== undefined || isRetryable) return "model-unreachable";
  return isRetryable === false ? "model-refused" : "model-failed";
}

const codes =
  /\b(econn\w+|epipe|enotfound|eai_again|ehost\w+|enet\w+|und_err_\w+|connectionrefused|connectionclosed)\b/;
const lost = /^(terminated|fetch failed|failed to fetch|network error|other side closed)/i;

/** What the network said, if it was the network. */
export function networkReason({ words, message }: Said): string | undefined {
  return codes.exec(words)?.[0].toUpperCase() ?? (lost.test(message) ? message : undefined);
}
