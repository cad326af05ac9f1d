/** State in a draft: what can be read of it, and writes that are all kept or none. */
import type { SetState } from "../domain/command.ts";
import { changeState, type StateSpace } from "../domain/state-space.ts";
import { act, type Draft } from "./draft.ts";

export function spaceOf({ state, at }: Pick<Draft, "state" | "at">): StateSpace {
  return { keys: at.keys, run: state.slots, thread: state.threadSlots, base: at.threadBase };
}

export interface StateWrite {
  /** The plugin or tool. */
  readonly by: string;
  readonly write: SetState;
}

/** Whose write cannot be made and why, if there is one; then none is made. */
export function writeState(
  draft: Draft,
  writes: readonly StateWrite[],
): { readonly by: string; readonly problem: string } | undefined {
  const { state, entries } = draft;
  const before = entries.length;
  for (const { by, write } of writes) {
    const changed = changeState(spaceOf(draft), write, by);
    if (changed.ok) {
      act(draft, changed.entry);
      continue;
    }
    draft.state = state;
    entries.length = before;
    return { by, problem: changed.problem };
  }
  return undefined;
}
