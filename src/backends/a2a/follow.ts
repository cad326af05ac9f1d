/**
 * Following a task by looking at it, until it rests or the deadline comes.
 *
 * W1 A look that fails is repeated, each time after a longer pause; only the deadline ends this.
 * W2 What the other side says about the task itself (it has none, it is not ours to see) is not asked again.
 */
import { backendError } from "../../domain/backend/backend-error.ts";
import type { Clock } from "../../ports/clock.ts";
import { RemoteFailure } from "./failure.ts";
import type { Remote } from "./remote.ts";
import { isOver, isWaiting, nothingSeen, type TaskView, takeTask } from "./view.ts";

export interface Following {
  readonly remote: Remote;
  readonly clock: Clock;
  readonly pollMs: number;
  readonly signal: AbortSignal;
  /** A wait that was there before this turn's message was sent; it counts again only when it stays. */
  readonly before?: TaskView | undefined;
}

const longestPauseMs = 30_000;
/** How often an old wait is seen again before it is taken for a new one that says the same. */
const patience = 3;

/** Rejects with the signal's reason, or with the failure of W2. */
export async function followTask(view: TaskView & { readonly id: string }, following: Following): Promise<TaskView> {
  const { remote, clock, pollMs, signal, before } = following;
  let [now, failures, stale]: [TaskView, number, number] = [view, 0, 0];
  for (;;) {
    try {
      now = takeTask(now, await remote.get(view.id, signal));
      failures = 0;
      if (isOver(now)) return now;
      if (isWaiting(now)) {
        stale += 1;
        if (!isSameWait(now, before) || stale > patience) return now;
      }
    } catch (error) {
      if (signal.aborted || !(error instanceof RemoteFailure) || !mayRepeat(error)) throw error;
      failures += 1;
    }
    await clock.sleep(Math.min(pollMs * 2 ** Math.min(failures, 16), Math.max(longestPauseMs, pollMs)), signal);
    signal.throwIfAborted();
  }
}

/** Nothing that is sent here begins anything, so "not taken" is only "not answered". A refusal (4xx) stays one. */
export function mayRepeat({ kind, status }: RemoteFailure): boolean {
  return kind === "broken" || (kind === "not-taken" && (status === undefined || status === 429));
}

export function isSameWait(now: TaskView, before: TaskView | undefined): boolean {
  const [one, other] = [now.status, before?.status];
  if (one === undefined || other === undefined || one.state !== other.state) return false;
  return one.timestamp === other.timestamp && one.message?.messageId === other.message?.messageId;
}

/** The task that a message became, by our ids: asked for where its own is not known. */
export async function findTask(
  { message, context }: { readonly message: string; readonly context: string },
  { remote, signal }: Pick<Following, "remote" | "signal">,
): Promise<TaskView | undefined> {
  const tasks = await remote.list(context, signal);
  const found = tasks.find(({ history }) => history.some(({ messageId }) => messageId === message));
  return found === undefined ? undefined : takeTask(nothingSeen, found);
}

export function notTaken(error: RemoteFailure, what: string): Error {
  const code = error.status === 404 ? "backend-agent-not-found" : "backend-remote-error";
  return backendError(code, `${what}: ${error.message}`, { cause: error });
}
