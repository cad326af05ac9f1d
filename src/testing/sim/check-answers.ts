/** Whatever was said to a thread, by a start or through a handle, is read by exactly one run and answered by it. */
import type { Entry } from "../../domain/entry.ts";
import { type Message, textOf } from "../../domain/message.ts";
import type { PeopleLog } from "./people.ts";
import type { Report } from "./violations.ts";
import type { Watch, WatchedRun } from "./watch.ts";

export interface Answers {
  readonly log: PeopleLog;
  readonly watch: Watch;
  readonly report: Report;
}

export function checkAnswers({ log, watch, report }: Answers): void {
  for (const { text, run } of log.said) {
    const readers = [...watch.runs.values()].flatMap((each) => readsOf(each, text).map((seq) => ({ each, seq })));
    const what = `"${text}", given to ${run}, is read ${readers.length} times`;
    const outcome = watch.runs.get(run)?.state.outcome?.kind;
    const [reader, ...others] = readers;
    if (others.length > 0) report("answered-once", what);
    else if (!reader && outcome === "completed") report("answered-once", `${what} though it has completed`);
    else if (reader && reader.each.key.run !== run) report("answered-once", `${what} by ${reader.each.key.run}`);
    else if (reader && outcome === "completed" && !isAnswered(reader.each.entries, reader.seq)) {
      report("answered-once", `${what} and not answered`);
    }
  }
}

/** Seqs of the entries that append a message with this text. */
function readsOf({ entries }: WatchedRun, text: string): readonly number[] {
  return entries
    .filter((entry) => entry.type === "message-appended")
    .filter((entry) => {
      const message = bodyOf(entry, entries);
      return message?.role === "user" && textOf(message) === text;
    })
    .map(({ seq }) => seq);
}

function bodyOf(entry: Extract<Entry, { type: "message-appended" }>, entries: readonly Entry[]): Message | undefined {
  const { body } = entry;
  if (body.kind === "here") return body.message;
  const source = entries[body.kind === "created" ? 0 : body.from - 1];
  if (source?.type === "run-created" && body.kind === "created") return source.input[body.index];
  return source?.type === "input-received" ? source.message : undefined;
}

/** A model call that began after the message was there has given its answer. */
function isAnswered(entries: readonly Entry[], seq: number): boolean {
  const asked = entries.find((entry) => entry.seq > seq && entry.type === "effect-intended" && entry.kind === "model");
  return (
    asked !== undefined &&
    entries.some(
      (entry) =>
        entry.seq > asked.seq &&
        entry.type === "effect-settled" &&
        entry.effect.endsWith(".model") &&
        entry.result.kind === "done",
    )
  );
}
