/** A successor is born by the end of the run that holds the thread, and on that thread: one answer for every store. */
import type { ThreadId } from "../../domain/ids.ts";
import type { RunStatus } from "../../domain/run.ts";
import type { Commit } from "../../ports/store.ts";
import { unfitSuccessor } from "./refusals.ts";

export interface EndingRun {
  readonly thread: ThreadId;
  readonly queued: boolean;
  /** After the commit; undefined where it does not change. */
  readonly status: RunStatus | undefined;
}

export function checkSuccessor({ run, scope, successor }: Commit, { thread, queued, status }: EndingRun): void {
  if (!successor) return;
  const { identity } = successor.entry;
  if (status !== "done") throw unfitSuccessor(run, "the commit does not end it");
  if (queued) throw unfitSuccessor(run, "it does not hold its thread");
  if (identity.scope !== scope || identity.thread !== thread) {
    throw unfitSuccessor(run, `thread ${identity.thread} of scope ${identity.scope} is another`);
  }
}
