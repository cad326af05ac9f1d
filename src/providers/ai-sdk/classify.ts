/** The class of an error: by the name that the AI SDK gives it, by its status and words, or by what the network said. */
import type { ErrorCode } from "../../domain/errors.ts";
import type { Said } from "./said.ts";

const byName: Readonly<Record<string, ErrorCode>> = {
  AI_LoadAPIKeyError: "model-unauthorized",
  AI_LoadSettingError: "model-refused",
  AI_NoSuchModelError: "model-not-found",
  AI_InvalidPromptError: "model-refused",
  AI_InvalidArgumentError: "model-refused",
  AI_UnsupportedFunctionalityError: "model-refused",
  AI_UnsupportedModelVersionError: "model-refused",
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
  const spoken = codeOfWords(said);
  if (spoken) return spoken;
  if (status !== undefined) return codeOfStatus(status, isRetryable);
  if (/timeout|etimedout/.test(words)) return "model-timeout";
  if (networkCode(said) !== undefined || isRetryable) return "model-unreachable";
  return isRetryable === false ? "model-refused" : "model-failed";
}

const network =
  /\b(econn\w+|epipe|enotfound|eai_again|ehost\w+|enet\w+|und_err_\w+|connectionrefused|connectionclosed)\b/;
const lost = /^(terminated|fetch failed|failed to fetch|network error|other side closed)/i;

/** What the network said, if it was the network. */
export function networkCode({ words, message }: Said): string | undefined {
  return network.exec(words)?.[0].toUpperCase() ?? (lost.test(message) ? message : undefined);
}

/** What a provider says is more exact than its status. */
function codeOfWords({ words, message, status }: Said): ErrorCode | undefined {
  if (status === 401 || status === 403) return "model-unauthorized";
  if (status === 402 || /insufficient_quota|billing/.test(words)) return "model-refused";
  if (status === 429) return "model-rate-limited";
  if (status === 413 || overflow.test(`${words} ${message}`.toLowerCase())) return "model-context-overflow";
  return knownWords.find(([pattern]) => pattern.test(words))?.[1];
}

const overflow =
  /context_length_exceeded|context length|context window|maximum context|prompt is too long|exceed_context_size|too many tokens|request_too_large/;

const knownWords: readonly (readonly [RegExp, ErrorCode])[] = [
  [/content_filter|content_policy/, "model-content-filtered"],
  [/invalid_api_key|authentication_error|permission_error/, "model-unauthorized"],
  [/model_not_found|not_found_error/, "model-not-found"],
  [/rate_limit/, "model-rate-limited"],
  [/overloaded/, "model-overloaded"],
];

function codeOfStatus(status: number, isRetryable: boolean | undefined): ErrorCode {
  switch (status) {
    case 404:
    case 405:
    case 410:
      return "model-not-found";
    case 408:
    case 504:
    case 524:
      return "model-timeout";
    case 503:
    case 529:
      return "model-overloaded";
    default:
      return status >= 500 || isRetryable ? "model-failed" : "model-refused";
  }
}
