/** What a provider's refusal means: every status and every word for an error has exactly one class. */
import type { ErrorCode } from "../../domain/errors.ts";

export interface Refusal {
  readonly status: number | undefined;
  /** Types and codes that the provider gave. */
  readonly words: string;
  readonly message: string;
}

/** What a provider says is more exact than its status: the words are looked at first. */
export function refusalClass(refusal: Refusal): ErrorCode | undefined {
  const { status, message } = refusal;
  const words = refusal.words.toLowerCase();
  if (status === 401 || status === 403) return "model-unauthorized";
  if (/insufficient_quota|billing/.test(words) || status === 402) return "model-refused";
  if (status === 429) return "model-rate-limited";
  if (status === 413 || overflow.test(`${words} ${message.toLowerCase()}`)) return "model-context-overflow";
  const known = knownWords.find(([pattern]) => pattern.test(words));
  return known ? known[1] : status === undefined ? undefined : statusClass(status);
}

const knownWords: readonly (readonly [RegExp, ErrorCode])[] = [
  [/content_filter|responsibleaipolicy|content_policy/, "model-content-filtered"],
  [/invalid_api_key|api_key_invalid|authentication|permission_error/, "model-unauthorized"],
  [/model_not_found|not_found_error/, "model-not-found"],
  [/rate_limit/, "model-rate-limited"],
  [/overloaded/, "model-overloaded"],
];

const overflow =
  /context_length_exceeded|context length|context window|maximum context|prompt is too long|exceed_context_size|too many tokens|request_too_large/;

function statusClass(status: number): ErrorCode {
  switch (status) {
    case 404:
    case 405:
    case 410:
      return "model-not-found";
    case 408:
    case 504:
    case 524:
      return "model-timeout";
    case 409:
    case 425:
      return "model-failed";
    case 503:
    case 529:
      return "model-overloaded";
    default:
      if (status >= 300 && status < 400) return "model-not-found"; // it is somewhere else; a key is not sent after it
      return status >= 500 ? "model-failed" : "model-refused";
  }
}
