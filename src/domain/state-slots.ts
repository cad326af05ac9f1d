/** State slots: the values of state keys as a run sees them, and what a change does to them. Pure, so that a fold can. */
import { HoldfastError } from "./errors.ts";
import type { JsonValue } from "./json.ts";

/** Merges that a fold can make by itself, so that only the operand has to be written. */
export const builtInMerges = ["sum", "max", "min", "union"] as const;
export type BuiltInMerge = (typeof builtInMerges)[number];

/** A durable change of one slot. `by` is the plugin or tool that asked for it. */
export interface StateChanged {
  readonly type: "state-changed";
  readonly key: string;
  readonly scope: "run" | "thread";
  readonly version: number;
  readonly change: StateChange;
  readonly by: string;
}

/** The value, and the operand that made it; or only the operand, where a fold can make the value by itself. */
export type StateChange =
  | { readonly value: JsonValue; readonly operand?: JsonValue }
  | { readonly merge: BuiltInMerge; readonly initial: JsonValue; readonly operand: JsonValue };

export interface Slot {
  readonly value: JsonValue;
  readonly version: number;
  /** Bytes of its JSON. */
  readonly bytes: number;
}

export type Slots = Readonly<Record<string, Slot>>;

export const stateLimits = { keyBytes: 64 * 1024, scopeBytes: 1024 * 1024 } as const;

export function bytesOf(slots: Slots): number {
  let bytes = 0;
  for (const name in slots) bytes += slots[name]?.bytes ?? 0;
  return bytes;
}

export function slotOf(value: JsonValue, version: number): Slot {
  return { value, version, bytes: Buffer.byteLength(JSON.stringify(value)) };
}

/** Only what was written: every object has a `constructor`, and a key may be called so. */
export function slotNamed(slots: Slots, name: string): Slot | undefined {
  return Object.hasOwn(slots, name) ? slots[name] : undefined;
}

export function changeSlot(slots: Slots, { key, version, change }: StateChanged): Slots {
  if ("value" in change) return { ...slots, [key]: slotOf(change.value, version) };
  const known = slotNamed(slots, key);
  const value = merged(change.merge, known ? known.value : change.initial, change.operand);
  return { ...slots, [key]: slotOf(value, version) };
}

/** The same in every order of operands; a sum of fractions only up to rounding. */
export function merged(merge: BuiltInMerge, value: JsonValue, operand: JsonValue): JsonValue {
  switch (merge) {
    case "sum":
      return finite(numberOf(value) + numberOf(operand));
    case "max":
      return Math.max(numberOf(value), numberOf(operand));
    case "min":
      return Math.min(numberOf(value), numberOf(operand));
    case "union":
      return union(listOf(value), listOf(operand));
    default:
      return merge satisfies never;
  }
}

/** Sorted by their JSON, or the order of writers would show. */
function union(list: readonly JsonValue[], more: readonly JsonValue[]): readonly JsonValue[] {
  const known = new Map<string, JsonValue>();
  for (const item of [...list, ...more]) known.set(JSON.stringify(item), item);
  return [...known].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
}

function numberOf(value: JsonValue): number {
  if (typeof value === "number") return value;
  throw new HoldfastError("invalid-state", `A number was expected, not ${JSON.stringify(value).slice(0, 100)}`);
}

function finite(sum: number): number {
  if (Number.isFinite(sum)) return sum;
  throw new HoldfastError("invalid-state", "A sum is too large for a number"); // and JSON would make null of it
}

function listOf(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value as readonly JsonValue[];
  throw new HoldfastError("invalid-state", `A list was expected, not ${JSON.stringify(value).slice(0, 100)}`);
}
