/** Imported history as it may be written: one run of messages that has started and ended, and nothing that is open. */
import { HoldfastError } from "../../domain/errors.ts";
import type { RunId } from "../../domain/ids.ts";
import { rowChanges } from "../../domain/row-changes.ts";
import type { NewThread } from "../../ports/store.ts";

export interface HistoryRun {
  readonly run: RunId;
  readonly startPosition: number;
  readonly messages: number;
}

export function readHistory(thread: NewThread, { birth, rest }: NonNullable<NewThread["history"]>): HistoryRun {
  const { run, scope, thread: owner } = birth.entry.identity;
  if (scope !== thread.scope || owner !== thread.thread) {
    throw unfit(run, `belongs to thread ${owner}, not to ${thread.thread}`);
  }
  const { startPosition, messages, opened, decided, takenInputs, slots } = rowChanges(rest);
  if (startPosition === undefined || rest.at(-1)?.type !== "run-ended") throw unfit(run, "has not started and ended");
  if (opened.length + decided.length + takenInputs.length + slots.length > 0)
    throw unfit(run, "holds more than messages");
  return { run, startPosition, messages };
}

function unfit(run: RunId, why: string): HoldfastError {
  return new HoldfastError("illegal-transition", `Run ${run} cannot be imported: it ${why}`, { details: { run } });
}
