import type { JsonValue } from "../domain/json.ts";

/** Synchronous, so that `decide` can stay pure. */
export interface Hash {
  /** RFC 8785: equal values give equal text, whatever their insertion order. */
  canonical(value: JsonValue): string;
  /** Lower-case hex SHA-256. */
  sha256(text: string): string;
}
