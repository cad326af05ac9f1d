/** Headers of every call to a provider. */
import { isSecret, type Secret } from "../../domain/secret.ts";
import { isRecord } from "./fields.ts";

export type GivenHeaders = Readonly<Record<string, string | Secret>>;

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
