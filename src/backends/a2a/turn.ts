/**
 * One turn at the other side: our message goes out once, and its task is followed until it rests.
 *
 * T1 Before sending, every failure says that nothing was sent. Afterwards only the other side's own word does.
 * T2 The message is sent by one request. Only when the other side says that it does not know how to stream is the same
 *    message sent without a stream; then nothing of it had been taken.
 * T3 A task's id is made durable before the next thing is read or asked.
 * T4 A stream that breaks, ends early or lies is not the task's end: the task is looked at, by its id or by ours.
 * T5 An answer that is too large ends the task: the other side is told to cancel, and the reason is the result.
 */
import { backendError } from "../../domain/backend/backend-error.ts";
import type { BackendResult } from "../../domain/backend/result.ts";
import { HoldfastError, isHoldfastError } from "../../domain/errors.ts";
import type { RemoteTurn } from "../../ports/backend.ts";
import type { Clock } from "../../ports/clock.ts";
import { type Deadline, openDeadline } from "./deadline.ts";
import { RemoteFailure } from "./failure.ts";
import { findTask, followTask, isSameWait, notTaken } from "./follow.ts";
import { hiddenIn } from "./hide.ts";
import { sendRequest } from "./message.ts";
import type { A2aSettings } from "./options.ts";
import { resultOf, taskOf, tooLarge } from "./outcome.ts";
import { reachAgain, repeated } from "./reach.ts";
import type { Remote } from "./remote.ts";
import { completed, isOver, isWaiting, nothingSeen, type TaskView, take, takeTask } from "./view.ts";

export interface A2aParts {
  readonly settings: A2aSettings;
  readonly clock: Clock;
  reach(signal: AbortSignal): Promise<Remote>;
}

export async function executeTurn(turn: RemoteTurn, parts: A2aParts): Promise<BackendResult> {
  const deadline = openDeadline(turn, parts.clock);
  const seen: Seen = { view: nothingSeen, sent: false };
  try {
    return hiddenIn(await play(turn, parts, { deadline, seen }), parts.settings.hide);
  } catch (error) {
    if (turn.signal.aborted) throw turn.signal.reason;
    throw seen.sent || isHoldfastError(error) ? error : neverSent(turn, error); // T1
  } finally {
    deadline.close();
  }
}

interface Seen {
  view: TaskView;
  sent: boolean;
}

interface Playing {
  readonly deadline: Deadline;
  readonly seen: Seen;
}

async function play(turn: RemoteTurn, parts: A2aParts, { deadline, seen }: Playing): Promise<BackendResult> {
  const request = sendRequest(turn);
  const { signal } = deadline;
  const remote = turn.answers === undefined ? await parts.reach(signal) : await reachAgain(parts, signal);
  const before =
    turn.answers === undefined ? undefined : await repeated(parts, signal, () => seenBefore(turn, remote, signal));
  const see = createSight(turn, seen);
  const { pollMs, maxBytes } = parts.settings;
  try {
    seen.sent = true;
    const streams = remote.streaming && (await listened({ remote, request, signal, see, before, seen }));
    if (!streams) await see(takeSent(await remote.send(request, signal)));
    const view = await rested({ turn, remote, signal, seen, see });
    const following = { remote, clock: parts.clock, pollMs, signal, before };
    const rest = isOver(view) || isNewWait(view, before) ? view : await followTask(view as Known, following);
    const whole = rest.doubtful ? completed(rest, await remote.get((rest as Known).id, signal)) : rest; // V2
    const result = resultOf(whole, maxBytes);
    if (result.status.kind === "failed" && !isOver(whole)) await cancelQuietly(whole, remote, signal); // T5
    return result;
  } catch (error) {
    return ended(error, { turn, remote, deadline, seen });
  }
}

type Known = TaskView & { readonly id: string };
type See = (step: (view: TaskView) => TaskView) => Promise<TaskView>;

/** T3. */
function createSight(turn: RemoteTurn, seen: Seen): See {
  return async (step) => {
    const earlier = seen.view.id ?? turn.task?.task;
    seen.view = step(seen.view);
    const task = taskOf(seen.view);
    if (task !== undefined && task.task !== earlier) await turn.onTask(task);
    return seen.view;
  };
}

function takeSent(answer: Awaited<ReturnType<Remote["send"]>>): (view: TaskView) => TaskView {
  return (view) => ("messageId" in answer ? { ...view, answer } : takeTask(view, answer));
}

interface Listening {
  readonly remote: Remote;
  readonly request: ReturnType<typeof sendRequest>;
  readonly signal: AbortSignal;
  readonly see: See;
  readonly before: TaskView | undefined;
  readonly seen: Seen;
}

/** False when the other side does not stream after all (T2). What breaks later leaves what was seen (T4). */
async function listened({ remote, request, signal, see, before, seen }: Listening): Promise<boolean> {
  const events = remote.stream(request, signal);
  for (;;) {
    let event: Awaited<ReturnType<typeof events.next>>;
    try {
      event = await events.next();
    } catch (error) {
      return brokenOff(error, seen.view, signal);
    }
    if (event.done) return true;
    const { value } = event;
    const view = await see((known) => take(known, value)).catch(async (error) => {
      await events.return().catch(() => undefined);
      throw error;
    });
    if (!isOver(view) && !isNewWait(view, before)) continue;
    await events.return().catch(() => undefined);
    return true;
  }
}

function brokenOff(error: unknown, { id, answer }: TaskView, signal: AbortSignal): boolean {
  if (signal.aborted || !(error instanceof RemoteFailure) || error.kind === "too-large") throw error;
  const isNew = id === undefined && answer === undefined;
  if (isNew && error.kind === "unsupported") return false;
  if (isNew && (error.kind === "not-taken" || error.kind === "gone")) throw error;
  return true;
}

interface Resting {
  readonly turn: RemoteTurn;
  readonly remote: Remote;
  readonly signal: AbortSignal;
  readonly seen: Seen;
  readonly see: See;
}

/** T4: whatever the stream was, afterwards there is an answer or a task with an id; or nobody knows. */
async function rested({ turn, remote, signal, seen, see }: Resting): Promise<TaskView> {
  if (seen.view.id !== undefined || seen.view.answer !== undefined) return seen.view;
  if (turn.answers !== undefined && turn.task !== undefined) return see((view) => ({ ...view, id: turn.task?.task }));
  const found = await findTask(turn, { remote, signal }).catch(() => undefined);
  if (found !== undefined) return see(() => found);
  signal.throwIfAborted();
  throw unknown(turn, "its answer broke off before a task was named, and it lists none for the message");
}

function isNewWait(view: TaskView, before: TaskView | undefined): boolean {
  return isWaiting(view) && !isSameWait(view, before);
}

/** How the waiting task stands, so that its old question is not taken for a new one. */
async function seenBefore({ task }: RemoteTurn, remote: Remote, signal: AbortSignal): Promise<TaskView | undefined> {
  if (task === undefined) return;
  try {
    return takeTask(nothingSeen, await remote.get(task.task, signal));
  } catch (error) {
    const cannot = error instanceof RemoteFailure && (error.kind === "unsupported" || error.kind === "too-large");
    if (!cannot) throw error;
    return; // then every wait is a new one
  }
}

interface Ending {
  readonly turn: RemoteTurn;
  readonly remote: Remote;
  readonly deadline: Deadline;
  readonly seen: Seen;
}

/** What an error after sending means. */
async function ended(error: unknown, { turn, remote, deadline, seen }: Ending): Promise<BackendResult> {
  const { signal } = deadline;
  const task = taskOf(seen.view) ?? (turn.answers === undefined ? undefined : turn.task);
  if (deadline.isOver()) {
    if (task !== undefined) return { status: { kind: "timeout" }, task };
    throw unknown(turn, `no task was named within ${turn.timeoutMs} ms`, error);
  }
  if (!(error instanceof RemoteFailure)) throw error;
  if (error.kind === "too-large") {
    const found = task ?? taskOf((await findTask(turn, { remote, signal }).catch(() => undefined)) ?? nothingSeen);
    await cancelQuietly({ ...nothingSeen, id: found?.task }, remote, signal);
    return tooLarge(error.message, found);
  }
  const isNew = seen.view.id === undefined;
  const isRefusal = error.kind === "not-taken" || error.kind === "unsupported" || error.kind === "gone";
  if (isNew && isRefusal) throw notTaken(error, `message ${turn.message} was not taken`);
  throw unknown(turn, error.message, error);
}

async function cancelQuietly({ id }: TaskView, remote: Remote, signal: AbortSignal): Promise<void> {
  if (id !== undefined) await remote.cancel(id, signal).catch(() => undefined);
}

function neverSent(turn: RemoteTurn, error: unknown): HoldfastError {
  const failure =
    error instanceof RemoteFailure ? error : new RemoteFailure("not-taken", String(error), { cause: error });
  const what = `message ${turn.message} was not sent`;
  return backendError("backend-remote-error", `${what}: ${failure.message}`, { cause: error });
}

/** No backend's error: what goes on there is not known. */
function unknown({ message, task }: RemoteTurn, why: string, cause?: unknown): HoldfastError {
  return new HoldfastError("remote-unknown", `What became of message ${message} is not known: ${why}`, {
    cause,
    details: { message, ...(task ? { task: task.task } : {}) },
  });
}
