/**
 * Whatever was said to a thread, by a start or through a handle, is read by exactly one run and answered by it: the run
 * it was given to, or its successor. Unread stays what a run was started with and had no time to begin, and what was
 * cancelled.
 */
import type { Entry } from "../../domain/entry.ts";
import { type Message, textOf } from "../../domain/message.ts";
import type { PeopleLog } from "./people.ts";
import type { Report } from "./violations.ts";
import { successorOf, type Watch, type WatchedRun } from "./watch.ts";

export interface Answers {
  readonly log: PeopleLog;
  readonly watch: Watch;
  readonly report: Report;
}

export function checkAnswers({ log, watch, report }: Answers): void {
  for (const { text, run } of log.said) {
    const readers = [...watch.runs.values()].flatMap((each) => readsOf(each, text).map((seq) => ({ each, seq })));
    const what = `"${text}", given to ${run}, is read ${readers.length} times`;
    const due = ownerOf(text, watch.runs.get(run), watch);
    const isCompleted = due?.state.outcome?.kind === "completed";
    const [reader, ...others] = readers;
    if (others.length > 0) report("answered-once", what);
    else if (reader && reader.each !== due) report("answered-once", `${what} by ${reader.each.key.run}`);
    else if (!reader && isCompleted) report("answered-once", `${what} though ${due.key.run} has completed`);
    else if (reader && isCompleted && !isAnswered(due.entries, reader.seq)) {
      report("answered-once", `${what} and not answered`);
    }
  }
}

/** Who has to read it: the run it was given to, or the successor to which that one has left it. */
function ownerOf(text: string, given: WatchedRun | undefined, watch: Watch): WatchedRun | undefined {
  const successor = given && successorOf(given, watch);
  const [created] = successor?.entries ?? [];
  const isLeft = created?.type === "run-created" && created.input.some((message) => textOf(message) === text);
  return isLeft ? successor : given;
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
