/** Headers of every call to a provider. */
import { isSecret, type Secret } from "../../domain/secret.ts";
import { isRecord } from "./fields.ts";

export type GivenHeaders = Readonly<Record<string, string | Secret>>;

/** One that is shorter is a word like any other. */
export const shortestKey = 8;

const credential = /key|token|secret|auth|pass|cookie|credential|signature/i;

/**
 * Values that no message may show: of secrets and of headers with the name of a credential whatever their length, of
 * others from eight characters on. A version is told by its name.
 */
export function hiddenHeaders(headers: GivenHeaders): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (isSecret(value)) return partsOf(value.reveal());
    if (credential.test(name)) return partsOf(value);
    return value.length >= shortestKey && !/version/i.test(name) ? [value] : [];
  });
}

/** Whole, and what follows the scheme or stands between others: a server may repeat only that. */
function partsOf(value: string): readonly string[] {
  return [value, ...value.split(/[\s;,]+/).filter((part) => part.length >= shortestKey)];
}

/** Every problem, by the header's name; no value is shown. */
export function headerProblems(headers: unknown): readonly string[] {
  if (headers === undefined) return [];
  if (!isRecord(headers)) return ["headers: must be an object of texts or secrets by name"];
  return Object.entries(headers).flatMap(([name, value]) => {
    const text = isSecret(value) ? value.reveal() : value;
    if (typeof text !== "string" || text === "") {
      return [`headers.${name}: must be a string that is not empty, or a secret`];
    }
    if (isSendable(name, text)) return [];
    return [`headers.${name}: cannot be sent; a name is letters, digits and hyphens, a value is one line`];
  });
}

function isSendable(name: string, value: string): boolean {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
}
