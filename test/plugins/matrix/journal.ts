/** What tests look for in a journal. */
import type { CommandApplied, Entry } from "../../../src/domain/entry.ts";
import type { CallResult } from "../../../src/domain/message.ts";
import { resultsOf } from "../../../src/testing/story.ts";

/** Tool results, in the order in which they were appended. */
export function resultsIn(journal: readonly Entry[]): readonly CallResult[] {
  return journal.flatMap((entry) =>
    entry.type === "message-appended" && entry.body.kind === "here" ? resultsOf(entry.body.message) : [],
  );
}

export function momentsIn(journal: readonly Entry[]): readonly (Entry & CommandApplied)[] {
  return journal.filter((entry) => entry.type === "command-applied");
}
