/** State as one attempt of a tool call sees it. What it writes is kept with its settlement; nothing is written here. */
import type { SetState } from "../domain/command.ts";
import { HoldfastError } from "../domain/errors.ts";
import { frozen } from "../domain/frozen.ts";
import type { JsonValue } from "../domain/json.ts";
import type { StateKeyFacts } from "../domain/state-key.ts";
import { changeState, readState, type StateSpace, withChange } from "../domain/state-space.ts";
import type { ToolSpec, ToolState } from "../domain/tool.ts";

export interface OpenToolState {
  readonly state: ToolState;
  readonly writes: () => readonly SetState[];
}

export function openToolState(space: StateSpace, spec: ToolSpec | undefined): OpenToolState {
  const writes: SetState[] = [];
  let seen = space;

  function write(key: StateKeyFacts, command: SetState): void {
    const tool = spec?.name ?? "?";
    if (!spec?.writes?.includes(key.name)) {
      throw new HoldfastError(
        "command-refused",
        `Tool ${tool} does not declare the state key ${key.name} in its writes`,
      );
    }
    const changed = changeState(seen, command, tool);
    if (!changed.ok) throw new HoldfastError("invalid-state", `Tool ${tool}: ${changed.problem}`);
    seen = withChange(seen, changed.entry);
    // As it was checked: the caller may go on changing what it gave.
    const { operand, value } = changed.entry.change as { readonly operand?: JsonValue; readonly value?: JsonValue };
    writes.push({
      type: "set-state",
      key: key.name,
      ...(operand === undefined ? { value: value as JsonValue } : { operand }),
    });
  }

  return {
    state: {
      get: (key) => frozen(readState(seen, key)) as never,
      set: (key, value) => write(key, key.set(value)),
      update: (key, operand) => write(key, key.update(operand)),
    },
    writes: () => writes,
  };
}
