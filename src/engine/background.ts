/**
 * Background tasks: runs of delegates that their parent does not wait for. The call is answered with a handle in the commit
 * that intends the run; how it ended is a message that the parent reads in its next step.
 *
 * BT1 What holds for a child holds for a task: C1 to C4, C6 and C7.
 * BT2 The end of each task is exactly one message of the parent's thread, written with everything else the next step
 *     begins with, or with the parent's own end.
 * BT3 A run does not complete while a task of it is alive or its end is unread: it waits on the task's ticket and is woken.
 *     Every other end of a run ends its tasks.
 * BT4 A call that cannot be paid for while tasks hold a part of the budget is put off until they have given back the rest.
 */
import { handleOf, taskMessage } from "../domain/background.ts";
import type { EffectSettled } from "../domain/entry.ts";
import { nothing } from "../domain/ledger.ts";
import type { BackgroundTask, CallState } from "../domain/run-state.ts";
import { act, type Draft, emit } from "./draft.ts";
import { appendResult } from "./take-fact.ts";

/** The call's one result, in the commit of its intent. */
export function answerWithHandle(draft: Draft, { id }: CallState): void {
  const task = draft.state.tasks?.find(({ call }) => call === id);
  if (task) appendResult(draft, id, handleOf(task.effect));
}

/** What was held for a task that has ended is free at once, whenever its end is told. */
export function settleTasks(draft: Draft): void {
  for (const task of draft.state.tasks ?? []) {
    if (task.ended && task.effect.open) act(draft, settledAs(task));
  }
}

/** BT2. */
export function tellTasks(draft: Draft): void {
  for (const task of draft.state.tasks ?? []) {
    if (task.ended) act(draft, { type: "message-appended", body: { kind: "here", message: messageOf(draft, task) } });
  }
}

/** BT2, at the end of the run, which does not resume for it. */
export function closeTasks(draft: Draft): void {
  for (const task of draft.state.tasks ?? []) {
    if (task.effect.open) emit(draft, settledAs(task));
    emit(draft, { type: "message-appended", body: { kind: "here", message: messageOf(draft, task) } });
  }
}

/** Somebody has to be told of one. */
export function hasNews({ state }: Draft): boolean {
  return state.tasks?.some(({ ended }) => ended !== undefined) ?? false;
}

/** BT3, BT4. */
export function hasTasks({ state }: Draft): boolean {
  return state.tasks?.some(({ ended }) => ended === undefined) ?? false;
}

function messageOf({ state }: Draft, task: BackgroundTask): ReturnType<typeof taskMessage> {
  return taskMessage(task, { run: state.created.identity.run });
}

/** Of one that did not end in time nobody knows what it still uses up: what was held for it counts as spent (B3). */
function settledAs({ effect, ended }: BackgroundTask): EffectSettled {
  const { id, open, child } = effect;
  const result = ended ? { kind: "done" as const, cost: ended.spent ?? nothing } : { kind: "aborted" as const };
  const dropped = child?.ephemeral ? { dropped: child.thread } : {};
  return { type: "effect-settled", effect: id, attempt: open?.attempt ?? 1, result, ...dropped };
}
