/**
 * A config is stored with the manifest and shown by `runs.manifest`. A value in it that is nothing but a key is refused, not
 * hidden: a mark in its place would be one more thing that the fingerprint does not see.
 */
import { type DetectorName, detectors } from "./detectors.ts";
import type { JsonValue } from "./json.ts";

export interface FoundSecret {
  readonly path: string;
  readonly kind: string;
}

/** The first value that is a key, by what it looks like. Keys within a longer text are somebody's words, and are left. */
export function secretIn(value: JsonValue, path = "config"): FoundSecret | undefined {
  if (typeof value === "string") {
    const kind = kindOf(value.trim());
    return kind === undefined ? undefined : { path, kind };
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = secretIn(inner as JsonValue, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`);
    if (found) return found;
  }
  return undefined;
}

const shortest = 20;

function kindOf(text: string): string | undefined {
  if (text.startsWith("-----BEGIN ")) return finds("private-key", text) ? "a private key" : undefined;
  const [last = "", ...before] = text.split(/\s+/).reverse();
  if (before.length > 1) return undefined;
  if (finds("bearer-token", text)) return "a login";
  if (before.length > 0 || last.length < shortest || !/\d/.test(last)) return undefined; // a name may begin like a key
  return finds("api-key", text) ? "an API key" : undefined;
}

function finds(name: DetectorName, text: string): boolean {
  for (const _found of detectors[name](text)) return true;
  return false;
}
