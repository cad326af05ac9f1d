/** How a run's turn is named to its backend. */
import type { RemoteIntent } from "../domain/backend/remote-turn.ts";
import type { JsonObject } from "../domain/json.ts";
import type { RunIdentity } from "../domain/run.ts";
import type { RunState } from "../domain/run-state.ts";
import type { ParentContext, RemoteTurn } from "../ports/backend.ts";

export type Subject = Pick<RemoteTurn, "agent" | "identity" | "parent" | "message" | "context" | "task">;

export function subjectOf({ created }: RunState, { message, context, task }: RemoteIntent): Subject {
  const { identity } = created;
  const parent = parentOf(identity);
  return {
    agent: identity.agent,
    identity,
    ...(parent ? { parent } : {}),
    message,
    context,
    ...(task ? { task } : {}),
  };
}

/** Three ids of their own; a run that has none of them is nobody's delegate. */
function parentOf({ parentRun, parentThread, parentCall }: RunIdentity): ParentContext | undefined {
  if (parentRun === undefined && parentThread === undefined && parentCall === undefined) return undefined;
  return {
    ...(parentRun === undefined ? {} : { run: parentRun }),
    ...(parentThread === undefined ? {} : { thread: parentThread }),
    ...(parentCall === undefined ? {} : { call: parentCall }),
  };
}

/** Run state as it was last committed. */
export function slotValues({ slots }: RunState): JsonObject {
  return Object.fromEntries(Object.entries(slots).map(([key, { value }]) => [key, value]));
}
