/** The fold over what is told of a task: V1 and V3 hold also for events that no stream of ours would read. */
import { type StreamResponse, TaskState } from "@a2a-js/sdk";
import { expect, it } from "vitest";
import { isOver, nothingSeen, take } from "../../src/backends/a2a/view.ts";

const status = (state: TaskState, taskId = "t"): StreamResponse => ({
  payload: {
    $case: "statusUpdate",
    value: { taskId, contextId: "c", status: { state, message: undefined, timestamp: undefined }, metadata: undefined },
  },
});

it.each([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
])("V1: after state %i nothing changes", (state) => {
  const over = take(nothingSeen, status(state));
  expect(isOver(over)).toBe(true);
  for (const later of [TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_FAILED]) {
    expect(take(over, status(later))).toBe(over);
  }
});

it("V3: the first task that is named is the one; another's end is not its end", () => {
  const ours = take(nothingSeen, status(TaskState.TASK_STATE_WORKING));
  expect(take(ours, status(TaskState.TASK_STATE_COMPLETED, "other"))).toEqual(ours);
});
