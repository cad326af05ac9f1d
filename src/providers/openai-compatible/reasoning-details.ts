/** `reasoning_details`: thoughts with signatures or encrypted, in pieces. They go back as one list, verbatim. */
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { isRecord } from "../shared/fields.ts";

const grown = ["text", "summary", "data"];

export interface ReasoningDetails {
  take(pieces: readonly unknown[]): void;
  list(): readonly JsonObject[];
}

export function createReasoningDetails(): ReasoningDetails {
  const items: Record<string, JsonValue>[] = [];
  return {
    take(pieces) {
      for (const piece of pieces.filter(isRecord)) {
        const last = items.at(-1);
        const isSame = last && last.type === piece.type && last.index === piece.index;
        if (!isSame) items.push({ ...(piece as JsonObject) });
        else for (const [name, value] of Object.entries(piece)) last[name] = joined(name, last[name], value);
      }
    },
    list: () => items,
  };
}

function joined(name: string, before: JsonValue | undefined, more: unknown): JsonValue {
  if (grown.includes(name) && typeof before === "string" && typeof more === "string") return before + more;
  return (more ?? before ?? null) as JsonValue;
}
