/**
 * A task as it has been told: one pure fold over what a stream brings and what a look finds.
 *
 * V1 The end is the end: what comes after a terminal state changes nothing, whatever it says.
 * V2 The same event twice, or a status that is older than the one at hand, changes nothing but pieces that were to be
 *    appended; those are `doubtful`, and whoever follows asks for the whole.
 * V3 Events of another task are not ours.
 */
import {
  type Artifact,
  type Message,
  type Part,
  type StreamResponse,
  type Task,
  TaskState,
  type TaskStatus,
} from "@a2a-js/sdk";
import { RemoteFailure } from "./failure.ts";

export interface TaskView {
  readonly id: string | undefined;
  readonly context: string | undefined;
  readonly status: TaskStatus | undefined;
  readonly artifacts: readonly Artifact[];
  readonly history: readonly Message[];
  /** V2. */
  readonly doubtful: boolean;
  /** An answer without a task. */
  readonly answer: Message | undefined;
}

export const nothingSeen: TaskView = {
  id: undefined,
  context: undefined,
  status: undefined,
  artifacts: [],
  history: [],
  doubtful: false,
  answer: undefined,
};

const terminal = [
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
];
const interrupted = [TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED];

export function isOver({ status, answer }: TaskView): boolean {
  return answer !== undefined || (status !== undefined && terminal.includes(status.state));
}

export function isWaiting({ status }: TaskView): boolean {
  return status !== undefined && interrupted.includes(status.state);
}

export function take(view: TaskView, { payload }: StreamResponse): TaskView {
  if (payload === undefined || isOver(view)) return view;
  switch (payload.$case) {
    case "message":
      return view.id === undefined ? { ...view, answer: payload.value } : view;
    case "task":
      return takeTask(view, payload.value);
    case "statusUpdate": {
      const { taskId, contextId, status } = payload.value;
      return takeStatus(named(view, taskId, contextId), { of: taskId, status });
    }
    case "artifactUpdate": {
      const { taskId, contextId, artifact, append } = payload.value;
      const known = named(view, taskId, contextId);
      return artifact === undefined || known.id !== taskId ? known : takeArtifact(known, artifact, append);
    }
    default:
      return payload satisfies never;
  }
}

/** The whole of it, as the other side has it now. */
export function takeTask(view: TaskView, task: Task): TaskView {
  if (isOver(view) || task.id === "") return view;
  const known = named(view, task.id, task.contextId);
  if (known.id !== task.id) return known;
  const { artifacts = [], history = [] } = task;
  return { ...takeStatus(known, { of: task.id, status: task.status }), artifacts, history, doubtful: false };
}

/** V2: what a task is that has come to its end, when the other side is asked for the whole. */
export function completed(view: TaskView, task: Task): TaskView {
  if (task.id !== view.id || task.status?.state !== view.status?.state) return view;
  return { ...view, artifacts: task.artifacts ?? [], history: task.history ?? [], doubtful: false };
}

function named(view: TaskView, id: string, context: string): TaskView {
  if (view.id !== undefined || id === "") return view;
  return { ...view, id, context: context === "" ? undefined : context };
}

function takeStatus(
  view: TaskView,
  { of, status }: { readonly of: string; readonly status: TaskStatus | undefined },
): TaskView {
  if (status === undefined || view.id !== of || isOlder(status, view.status)) return view;
  return { ...view, status };
}

function isOlder({ timestamp }: TaskStatus, known: TaskStatus | undefined): boolean {
  const [now, before] = [Date.parse(timestamp ?? ""), Date.parse(known?.timestamp ?? "")];
  return now < before; // not a number is not less
}

/** Of artifacts, and of parts of one that are no text: what is read piece by piece costs what it is long. */
const most = 1_000;

function takeArtifact(view: TaskView, artifact: Artifact, append: boolean): TaskView {
  const known = view.artifacts.find(({ artifactId }) => artifactId === artifact.artifactId);
  const others = view.artifacts.filter((each) => each !== known);
  const whole = append && known !== undefined ? { ...known, parts: joined(known.parts, artifact.parts) } : artifact;
  if (others.length >= most || whole.parts.length > most) {
    const what = others.length >= most ? "artifacts" : `parts of artifact ${artifact.artifactId}`;
    throw new RemoteFailure("too-large", `it answered with more than ${most} ${what}`);
  }
  return { ...view, artifacts: [...others, whole], doubtful: view.doubtful || append };
}

/** Text goes on in the same part. */
function joined(known: readonly Part[], [first, ...rest]: readonly Part[]): Part[] {
  const last = known.at(-1);
  if (first === undefined) return [...known];
  if (last?.content?.$case !== "text" || first.content?.$case !== "text") return [...known, first, ...rest];
  const text = { ...last, content: { $case: "text" as const, value: last.content.value + first.content.value } };
  return [...known.slice(0, -1), text, ...rest];
}
