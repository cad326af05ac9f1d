/** What became of a turn whose process is gone, and the end of one that nobody waits for. Neither begins anything. */
import { type Message, Role } from "@a2a-js/sdk";
import { messageOf } from "../../domain/json.ts";
import type { RemoteAbort, RemoteLook, RemoteSight } from "../../ports/backend.ts";
import { openDeadline } from "./deadline.ts";
import { RemoteFailure } from "./failure.ts";
import { findTask, followTask } from "./follow.ts";
import { hiddenIn } from "./hide.ts";
import { resultOf } from "./outcome.ts";
import { reachAgain, repeated } from "./reach.ts";
import type { Remote } from "./remote.ts";
import type { A2aParts } from "./turn.ts";
import { isWaiting, nothingSeen, type TaskView } from "./view.ts";

export async function lookForTurn(what: RemoteLook, parts: A2aParts): Promise<RemoteSight> {
  const deadline = openDeadline(what, parts.clock);
  const { signal } = deadline;
  let task = what.task;
  try {
    const remote = await reachAgain(parts, signal);
    const found = await repeated(parts, signal, () => locate(what, remote, signal));
    if (found === undefined) return unknown(`it lists no task for message ${what.message}`);
    task = { task: found.id, ...(found.context === undefined ? {} : { context: found.context }) };
    const { pollMs, maxBytes, hide } = parts.settings;
    const rest = await followTask(found, { remote, clock: parts.clock, pollMs, signal });
    return isAbsent(rest, what)
      ? { kind: "absent" }
      : { kind: "result", result: hiddenIn(resultOf(rest, maxBytes), hide) };
  } catch (error) {
    if (what.signal.aborted) throw what.signal.reason;
    if (!deadline.isOver()) return unknown(messageOf(error));
    return task === undefined
      ? unknown(`it could not be asked within ${what.timeoutMs} ms`)
      : { kind: "result", result: { status: { kind: "timeout" }, task } };
  } finally {
    deadline.close();
  }
}

function unknown(why: string): RemoteSight {
  return { kind: "unknown", why: `The remote cannot say what became of it: ${why}` };
}

type Known = TaskView & { readonly id: string };

async function locate(what: RemoteLook, remote: Remote, signal: AbortSignal): Promise<Known | undefined> {
  if (what.task !== undefined) return { ...nothingSeen, id: what.task.task, context: what.task.context };
  return (await findTask(what, { remote, signal })) as Known | undefined;
}

/**
 * A task that waits and whose history has messages of ours, but not this one, has not taken this answer. A history that
 * is not told proves nothing.
 */
function isAbsent(view: TaskView, { message }: RemoteLook): boolean {
  const ours = view.history.filter(({ role }: Message) => role === Role.ROLE_USER);
  return isWaiting(view) && ours.length > 0 && !ours.some(({ messageId }) => messageId === message);
}

const abortMs = 30_000;

/** A task that is over, or that the other side does not have, is done. Rejects when it could not be told. */
export async function abortTask(what: RemoteAbort, parts: A2aParts): Promise<void> {
  const within = { signal: what.signal, timeoutMs: Math.min(abortMs, parts.settings.timeoutMs) };
  const deadline = openDeadline(within, parts.clock);
  const { signal } = deadline;
  try {
    const remote = await reachAgain(parts, signal);
    const id = what.task?.task ?? (await repeated(parts, signal, () => findTask(what, { remote, signal })))?.id;
    if (id !== undefined) await repeated(parts, signal, () => remote.cancel(id, signal));
  } catch (error) {
    const isDone = error instanceof RemoteFailure && (error.kind === "gone" || error.kind === "refused");
    if (!isDone) throw error;
  } finally {
    deadline.close();
  }
}
