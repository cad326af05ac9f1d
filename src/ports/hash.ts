import type { JsonValue } from "../domain/json.ts";

/** Synchronous, so that `decide` can stay pure. */
export interface Hash {
  /** RFC 8785: equal values give equal text, whatever their insertion order. */
  canonical(value: JsonValue): string;
  /** Lower-case hex SHA-256; of a text, its UTF-8. */
  sha256(bytes: string | Uint8Array): string;
}
