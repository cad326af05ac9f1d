/** Which content entries refer to: what their commit cites (K1). One pure answer for every store. */
import type { EntryBody } from "./entry.ts";
import type { CallResult, Message } from "./message.ts";

/** Hashes, each once. */
export function contentIn(entries: readonly EntryBody[]): readonly string[] {
  const found = new Set<string>();
  for (const entry of entries) for (const hash of hashesIn(resultsIn(entry))) found.add(hash);
  return found.size === 0 ? none : [...found];
}

const none: readonly string[] = [];

/** An input comes through the outside door, where nothing is cited: it may not refer to content. */
export function refersToContent(message: Message): boolean {
  return hashesIn(resultsOf(message)).length > 0;
}

function hashesIn(results: readonly CallResult[]): readonly string[] {
  return results.flatMap((result) => (result.kind === "value" && result.content ? [result.content.hash] : none));
}

function resultsIn(entry: EntryBody): readonly CallResult[] {
  switch (entry.type) {
    case "message-appended":
      return entry.body.kind === "here" ? resultsOf(entry.body.message) : [];
    case "effect-settled":
      return entry.answered ? [entry.answered] : [];
    case "call-gated":
      return entry.verdict.kind === "result" ? [entry.verdict.result] : [];
    case "run-created":
      return entry.input.flatMap(resultsOf);
    default:
      return [];
  }
}

/** Of any role: history from elsewhere may have them in messages of a user. */
function resultsOf({ parts }: Message): readonly CallResult[] {
  return parts.flatMap((part) => (part.type === "tool-result" ? [part.result] : []));
}
