/** Which content entries refer to: what their commit cites (K1). One pure answer for every store. */
import type { EntryBody } from "./entry.ts";
import type { CallResult, Message } from "./message.ts";

/** Hashes, each once. */
export function contentIn(entries: readonly EntryBody[]): readonly string[] {
  const found = new Set<string>();
  for (const entry of entries)
    for (const result of resultsIn(entry))
      if (result.kind === "value" && result.content) found.add(result.content.hash);
  return found.size === 0 ? none : [...found];
}

const none: readonly string[] = [];

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

function resultsOf({ role, parts }: Message): readonly CallResult[] {
  return role === "tool" ? parts.flatMap((part) => (part.type === "tool-result" ? [part.result] : [])) : [];
}
