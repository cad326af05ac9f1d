/**
 * State key: a typed slot of a run or a thread. What is stored is JSON; how two writers meet is the key's merge rule.
 *
 * K1 An exclusive key is set; a merged one is only ever given operands, so that the order of writers does not matter.
 * K2 A value is stored only if its schema takes it and it is small enough; larger things belong in content.
 * K3 A value of an older version is migrated when it is read; one of a newer version, or one that does not fit any more,
 *    is never handed to code that does not understand it.
 */
import type { SetState } from "./command.ts";
import type { JsonValue } from "./json.ts";
import { isFunction, Problems, shown } from "./problems.ts";
import { isStandardSchema, type OutputOf, type StandardSchema } from "./standard-schema.ts";
import { type BuiltInMerge, builtInMerges } from "./state-slots.ts";
import { checkedValue } from "./state-values.ts";

export type StateScope = "run" | "thread";

/** What every state key has, whatever its type. */
export interface StateKeyFacts {
  readonly name: string;
  readonly scope: StateScope;
  readonly version: number;
  readonly merge: "exclusive" | "custom" | BuiltInMerge;
  readonly code: StateKeyCode;
}

/** Code with its types erased; it runs behind the engine's port. */
export interface StateKeyCode {
  readonly schema: StandardSchema;
  readonly initial: JsonValue;
  readonly migrate?: (value: JsonValue, version: number) => unknown;
  /** Custom merges only. */
  readonly merge?: (value: JsonValue, operand: JsonValue) => unknown;
}

/** Exclusive: the value is replaced as a whole. */
export interface StateKey<Value> extends StateKeyFacts {
  set(value: Value): SetState;
  /** Types only; never set. */
  readonly "~value"?: Value;
}

/** Commutative: writers give operands, and any order of them gives the same value. */
export interface MergedKey<Value, Operand> extends StateKeyFacts {
  update(operand: Operand): SetState;
  /** Types only; never set. */
  readonly "~value"?: Value;
}

/** Anything that a value of this type can be read from. */
export interface ReadableKey<Value> extends StateKeyFacts {
  readonly "~value"?: Value;
}

export interface StateKeyOptions<Schema extends StandardSchema> {
  /** Unique among the keys of an agent; the names that begin with `holdfast.` are the runtime's own. */
  readonly name: string;
  readonly schema: Schema;
  /** What is read before anything was written. */
  readonly initial: OutputOf<Schema>;
  /** Who shares the value: one run unless said, or every run of a thread, one after the other. */
  readonly scope?: StateScope;
  /** Rises when the shape of the value changes; `migrate` brings older values along. */
  readonly version?: number;
  readonly migrate?: (value: JsonValue, version: number) => OutputOf<Schema>;
}

interface Merged<Rule> {
  /** sum, max and min of numbers, union of lists, or a pure function in which the order of operands does not matter. */
  readonly merge: Rule;
}

type ErasedOptions = StateKeyOptions<StandardSchema> & { readonly merge?: unknown };

const optionNames = ["name", "schema", "initial", "scope", "merge", "version", "migrate"];
const namePattern = /^[a-zA-Z0-9_.-]{1,128}$/;
const reserved = ["holdfast.", "__runtime"];
const maxVersion = 1_000_000;

export function stateKey<Schema extends StandardSchema, Operand>(
  options: StateKeyOptions<Schema> & Merged<(value: OutputOf<Schema>, operand: Operand) => OutputOf<Schema>>,
): MergedKey<OutputOf<Schema>, Operand>;
export function stateKey<Schema extends StandardSchema>(
  options: StateKeyOptions<Schema> & Merged<BuiltInMerge>,
): MergedKey<OutputOf<Schema>, OutputOf<Schema>>;
export function stateKey<Schema extends StandardSchema>(
  options: StateKeyOptions<Schema> & Partial<Merged<"exclusive">>,
): StateKey<OutputOf<Schema>>;
export function stateKey(typed: unknown): StateKey<unknown> & MergedKey<unknown, unknown> {
  const options = typed as ErasedOptions;
  const problems = new Problems(options, optionNames);
  const initial = checkKey(options, problems);
  problems.refuse("invalid-state-key", `State key ${shown(options?.name)} cannot be defined`);
  const { name, schema, scope = "run", version = 1, merge = "exclusive", migrate } = options;
  const custom = isFunction(merge) ? { merge: merge as NonNullable<StateKeyCode["merge"]> } : {};
  return {
    name,
    scope,
    version,
    merge: isFunction(merge) ? "custom" : (merge as "exclusive" | BuiltInMerge),
    code: { schema, initial, ...custom, ...(migrate ? { migrate } : {}) },
    set: (value) => ({ type: "set-state", key: name, value: value as JsonValue }),
    update: (operand) => ({ type: "set-state", key: name, operand: operand as JsonValue }),
  };
}

export function isStateKey(value: unknown): value is StateKeyFacts {
  const key = value as Partial<StateKeyFacts> | null | undefined;
  return typeof key?.name === "string" && isStandardSchema(key.code?.schema);
}

/** What the runtime itself keeps is not a plugin's to write. */
export function isReservedName(name: string): boolean {
  return reserved.some((prefix) => name.startsWith(prefix));
}

/** Answers the initial value as the schema made it: a copy, so that nobody changes it later. */
function checkKey(options: ErasedOptions, problems: Problems): JsonValue {
  problems.check(
    "name",
    (name) => typeof name === "string" && namePattern.test(name) && !isReservedName(name),
    `must match ${namePattern} and not begin with ${reserved.join(" or ")}`,
  );
  problems.check("schema", isStandardSchema, "must be a Standard Schema, for example z.number()");
  problems.oneOf("scope", ["run", "thread"]);
  problems.integer("version", 1, maxVersion);
  problems.optional("migrate", isFunction, "must be a function (value, version)");
  problems.optional(
    "merge",
    (merge) => merge === "exclusive" || isFunction(merge) || builtInMerges.includes(merge as BuiltInMerge),
    `must be exclusive, ${builtInMerges.join(", ")} or a function (value, operand)`,
  );
  if (!isStandardSchema(options?.schema)) return null;
  const initial = checkedValue(options.schema, options.initial);
  if (!initial.ok) {
    problems.add(`initial: ${initial.problem}`);
    return null;
  }
  checkMerge(initial.value, options.merge, problems);
  return initial.value;
}

/** A merge that could never be made is refused here, not at the first write. */
function checkMerge(initial: JsonValue, merge: unknown, problems: Problems): void {
  if (!builtInMerges.includes(merge as BuiltInMerge)) return;
  const isOfLists = merge === "union";
  const fits = isOfLists ? Array.isArray(initial) : typeof initial === "number";
  if (!fits) problems.add(`merge: ${merge} is of ${isOfLists ? "lists" : "numbers"}, and initial is none`);
}
