/**
 * State space: the state keys of an agent together with the slots of a run and its thread. It reads and changes values by
 * their keys' rules (K1–K3); what it answers are entries, so that nothing changes that is not written.
 */
import type { SetState } from "./command.ts";
import { HoldfastError } from "./errors.ts";
import type { JsonValue } from "./json.ts";
import { messageOf } from "./json.ts";
import type { StateKeyFacts } from "./state-key.ts";
import {
  type BuiltInMerge,
  bytesOf,
  changeSlot,
  merged,
  type Slot,
  type Slots,
  type StateChange,
  type StateChanged,
  slotNamed,
  slotOf,
  stateLimits,
} from "./state-slots.ts";
import { type CheckedValue, checkedValue, jsonValue } from "./state-values.ts";

export interface StateSpace {
  readonly keys: ReadonlyMap<string, StateKeyFacts>;
  readonly run: Slots;
  /** What this run has written of its thread's state. */
  readonly thread: Slots;
  /** What the thread held when the run was taken up. */
  readonly base: Slots;
}

export const emptySpace: StateSpace = { keys: new Map(), run: {}, thread: {}, base: {} };

export function slotIn(space: StateSpace, { name, scope }: Pick<StateKeyFacts, "name" | "scope">): Slot | undefined {
  if (scope === "run") return slotNamed(space.run, name);
  return slotNamed(space.thread, name) ?? slotNamed(space.base, name);
}

/** K3. */
export function readState(space: StateSpace, key: StateKeyFacts): JsonValue {
  if (space.keys.get(key.name) !== key) throw unknownKey(key.name);
  const current = currentValue(space, key);
  if (current.ok) return current.value;
  throw new HoldfastError("invalid-state", `State key ${key.name}: ${current.problem}`, { details: { key: key.name } });
}

function unknownKey(name: string): HoldfastError {
  return new HoldfastError(
    "invalid-state",
    `The agent has no state key ${name}: name it in a plugin's state or a tool's writes`,
  );
}

function currentValue(space: StateSpace, key: StateKeyFacts): CheckedValue {
  const slot = slotIn(space, key);
  if (!slot) return { ok: true, value: key.code.initial };
  if (slot.version === key.version) return { ok: true, value: slot.value };
  if (slot.version > key.version) {
    return { ok: false, problem: `it holds version ${slot.version}, newer than this process's ${key.version}` };
  }
  if (!key.code.migrate) return { ok: false, problem: `it holds version ${slot.version} and has no migrate` };
  try {
    const value = checkedValue(key.code.schema, key.code.migrate(slot.value, slot.version));
    return value.ok ? value : { ok: false, problem: `migrated from version ${slot.version}: ${value.problem}` };
  } catch (cause) {
    return { ok: false, problem: `migrating it from version ${slot.version} threw: ${messageOf(cause)}` };
  }
}

/** Every key whose stored value this process cannot use, in words. */
export function stateProblems(space: StateSpace): readonly string[] {
  const problems: string[] = [];
  for (const key of space.keys.values()) {
    const slot = slotIn(space, key);
    if (!slot) continue;
    const current = currentValue(space, key);
    const checked = current.ok ? checkedValue(key.code.schema, current.value) : current;
    if (!checked.ok) problems.push(`state key ${key.name} (${key.scope}): ${checked.problem}`);
  }
  return problems;
}

export type Changed =
  | { readonly ok: true; readonly entry: StateChanged }
  | { readonly ok: false; readonly problem: string };

/** The entry that a write makes, or why it cannot be made. */
export function changeState(space: StateSpace, write: SetState, by: string): Changed {
  const key = space.keys.get(write.key);
  if (!key) return { ok: false, problem: unknownKey(write.key).message };
  const change = changeOf(space, key, write);
  if (!change.ok) return { ok: false, problem: `state key ${key.name}: ${change.problem}` };
  const { name, scope, version } = key;
  const tooMuch = isTooMuch(space, key, change.value);
  if (tooMuch) return { ok: false, problem: tooMuch };
  return { ok: true, entry: { type: "state-changed", key: name, scope, version, change: change.change, by } };
}

type Change =
  | { readonly ok: true; readonly value: JsonValue; readonly change: StateChange }
  | Extract<CheckedValue, { ok: false }>;

/** K1. */
function changeOf(space: StateSpace, key: StateKeyFacts, { value, operand: given }: SetState): Change {
  if (key.merge === "exclusive") {
    if (value === undefined || given !== undefined) return { ok: false, problem: "it is exclusive: use set(value)" };
    const checked = checkedValue(key.code.schema, value);
    return checked.ok ? { ...checked, change: { value: checked.value } } : checked;
  }
  if (given === undefined || value !== undefined) return { ok: false, problem: "it is merged: use update(operand)" };
  const json = jsonValue(given); // it goes into the journal
  if (!json.ok) return { ok: false, problem: `its operand is no JSON: ${json.problem}` };
  const { value: operand } = json;
  const current = currentValue(space, key);
  if (!current.ok) return current;
  const made = mergedValue(key, current.value, operand);
  if (!made.ok) return made;
  const canFold = key.scope === "run" && made.isPlain && (slotIn(space, key)?.version ?? key.version) === key.version;
  const change: StateChange = canFold
    ? { merge: key.merge as BuiltInMerge, initial: key.code.initial, operand }
    : { value: made.value, operand };
  return { ok: true, value: made.value, change };
}

type Merge =
  | (Extract<CheckedValue, { ok: true }> & { readonly isPlain: boolean })
  | Extract<CheckedValue, { ok: false }>;

/** Plain: a fold makes the same of it, since the merge is built in and the schema has changed nothing. */
function mergedValue(key: StateKeyFacts, value: JsonValue, operand: JsonValue): Merge {
  try {
    if (key.merge === "custom") {
      const custom = checkedValue(key.code.schema, key.code.merge?.(value, operand));
      return custom.ok ? { ...custom, isPlain: false } : custom;
    }
    const made = merged(key.merge as BuiltInMerge, value, operand);
    const checked = checkedValue(key.code.schema, made);
    return checked.ok ? { ...checked, isPlain: isSame(checked.value, made) } : checked;
  } catch (cause) {
    return { ok: false, problem: `merging threw: ${messageOf(cause)}` };
  }
}

function isSame(a: JsonValue, b: JsonValue): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** K2. */
function isTooMuch(space: StateSpace, key: StateKeyFacts, value: JsonValue): string | undefined {
  const slots = key.scope === "run" ? space.run : { ...space.base, ...space.thread };
  const bytes = bytesOf(slots) - (slotIn(space, key)?.bytes ?? 0) + slotOf(value, key.version).bytes;
  if (bytes <= stateLimits.scopeBytes) return undefined;
  return `state key ${key.name}: the ${key.scope}'s state would have ${bytes} bytes, the limit is ${stateLimits.scopeBytes}`;
}

export function withChange(space: StateSpace, entry: StateChanged): StateSpace {
  if (entry.scope === "run") return { ...space, run: changeSlot(space.run, entry) };
  return { ...space, thread: changeSlot(space.thread, entry) };
}
