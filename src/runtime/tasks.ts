/** The background tasks of a run, read from its journal: what is over is no part of its state any more. */
import { type TaskStatus, taskStatus } from "../domain/background.ts";
import { resultOfChild } from "../domain/child-result.ts";
import type { Entry } from "../domain/entry.ts";
import type { CallId, RunId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import { readAfter } from "../engine/load.ts";
import type { RunKey } from "../ports/store.ts";
import { type Desk, surely } from "./desk.ts";

/** A run of a delegate that works beside the run that has called it. */
export interface Task {
  /** The id of its run. */
  readonly id: RunId;
  readonly agent: string;
  readonly call: CallId;
  readonly status: TaskStatus;
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Of one that has completed. */
  readonly output?: JsonValue;
  /** Of any other that is over: why. */
  readonly error?: string;
}

/** In the order in which they were begun. */
export async function listTasks(key: RunKey, desk: Desk): Promise<readonly Task[]> {
  const entries = await surely(`Reading the tasks of run ${key.run}`, desk, () => readAfter(key, 0, desk.store));
  const tasks = new Map<RunId, Task>();
  for (const entry of entries) note(tasks, entry);
  return [...tasks.values()];
}

function note(tasks: Map<RunId, Task>, entry: Entry): void {
  if (entry.type === "effect-intended" && entry.child?.background && entry.call) {
    const { run: id, agent } = entry.child;
    tasks.set(id, { id, agent, call: entry.call, status: "running", startedAt: entry.at });
  }
  if (entry.type === "ticket-decided" && entry.decision.kind === "child-ended") {
    const { decision, at } = entry;
    const begun = tasks.get(decision.run);
    if (!begun) return;
    const result = resultOfChild(decision);
    const came = result.kind === "value" ? { output: result.value } : { error: result.message };
    tasks.set(begun.id, { ...begun, status: taskStatus(decision), endedAt: at, ...came });
  }
  if (entry.type === "run-ended") for (const task of tasks.values()) giveUp(tasks, task, entry.at);
}

function giveUp(tasks: Map<RunId, Task>, task: Task, endedAt: number): void {
  if (task.status !== "running") return;
  const error = "The run ended; the task was asked to end and had not";
  tasks.set(task.id, { ...task, status: "cancelled", endedAt, error });
}
