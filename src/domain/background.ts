/** The part of `apply` that moves background tasks: runs of delegates whose calls have their result already. */
import { type EffectEntry, keepChildBooks, nextEffect } from "./apply-step.ts";
import { resultOfChild } from "./child-result.ts";
import type { MessageId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { CallResult, Message } from "./message.ts";
import type { BackgroundTask, CallState, EffectState, RunState } from "./run-state.ts";
import type { ChildEnded } from "./ticket.ts";

/** What the call is answered with at once. */
export function handleOf(effect: Pick<EffectState, "child">): CallResult {
  return { kind: "value", value: { task: effect.child?.run ?? "", status: "running" } satisfies JsonObject };
}

export function beginTask(state: RunState, { id: call, tool }: CallState, effect: EffectState): RunState {
  return { ...state, tasks: [...(state.tasks ?? []), { call, tool, effect }] };
}

/** Whether the entry settles a task. */
export function isOfTask({ tasks = [] }: RunState, entry: EffectEntry): boolean {
  return entry.type === "effect-settled" && tasks.some(({ effect }) => effect.id === entry.effect);
}

export function settleTask(state: RunState, entry: EffectEntry): RunState {
  const tasks = state.tasks?.map((task) =>
    task.effect.id === entry.effect ? { ...task, effect: nextEffect(task.effect, entry) } : task,
  );
  return { ...keepChildBooks(state, entry), ...(tasks ? { tasks } : {}) };
}

export function endTask(state: RunState, call: CallState["id"], ended: ChildEnded): RunState {
  const tasks = state.tasks?.map((task) => (task.call === call ? { ...task, ended } : task));
  return tasks ? { ...state, tasks } : state;
}

/** Once the message is in the thread the task is over. */
export function tellTask(state: RunState, { id }: Message): RunState {
  if (!state.tasks?.some((task) => toldAs(task) === id)) return state;
  const { tasks, ...rest } = state;
  const left = tasks.filter((task) => toldAs(task) !== id);
  return left.length === 0 ? rest : { ...rest, tasks: left };
}

/** One for each task: whatever brings it, it is in the thread once. */
function toldAs({ call }: BackgroundTask): MessageId {
  return `${call}.task-ended` as MessageId;
}

/** The end of a task as the model reads it. */
export function taskMessage(task: BackgroundTask, run: Message["producer"]): Message {
  return {
    id: toldAs(task),
    role: "user",
    parts: [{ type: "text", text: JSON.stringify(toldOf(task)) }],
    visibility: "internal",
    ...(run ? { producer: run } : {}),
  };
}

function toldOf({ tool, effect, ended }: BackgroundTask): JsonObject {
  const task = { background: tool, task: effect.child?.run ?? "" };
  if (!ended) return { ...task, status: "cancelled", error: "The run ended; the task was asked to end and had not" };
  const result = resultOfChild(ended);
  const status = taskStatus(ended);
  return result.kind === "value"
    ? { ...task, status, result: result.value }
    : { ...task, status, error: result.message };
}

export type TaskStatus = "running" | "completed" | "failed" | "cancelled";

export function taskStatus({ outcome }: Pick<ChildEnded, "outcome">): Exclude<TaskStatus, "running"> {
  return outcome.kind === "completed" || outcome.kind === "cancelled" ? outcome.kind : "failed";
}
