/** Which content entries refer to: what their commit cites (K1). One pure answer for every store. */
import type { EntryBody } from "./entry.ts";
import { isFile } from "./file-part.ts";
import type { CallResult, Message, Part } from "./message.ts";

/** Hashes, each once. */
export function contentIn(entries: readonly EntryBody[]): readonly string[] {
  const found = new Set<string>();
  for (const entry of entries) for (const hash of hashesIn(entry)) found.add(hash);
  return found.size === 0 ? none : [...found];
}

const none: readonly string[] = [];

function hashesIn(entry: EntryBody): readonly string[] {
  switch (entry.type) {
    case "message-appended":
      return entry.body.kind === "here" ? ofMessage(entry.body.message) : none;
    case "effect-settled": {
      const { answered, reply, result } = entry;
      const kept = result.kind === "failed" ? ofParts(result.kept ?? []) : none;
      return [...(answered ? ofResult(answered) : none), ...(reply ? ofMessage(reply) : none), ...kept];
    }
    case "call-gated":
      return entry.verdict.kind === "result" ? ofResult(entry.verdict.result) : none;
    case "run-created":
      return entry.input.flatMap(ofMessage);
    case "input-received":
      return ofMessage(entry.message);
    default:
      return none;
  }
}

/** Of any role: history from elsewhere may have results in messages of a user. */
function ofMessage({ parts }: Message): readonly string[] {
  return ofParts(parts);
}

function ofParts(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) => {
    if (part.type === "tool-result") return ofResult(part.result);
    return isFile(part) && "content" in part ? [part.content.hash] : none;
  });
}

function ofResult(result: CallResult): readonly string[] {
  if (result.kind !== "value") return none;
  return [...(result.content ? [result.content.hash] : none), ...ofParts(result.shown ?? [])];
}
