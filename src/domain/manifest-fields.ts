/**
 * Every field of a manifest, by its pattern, in exactly one of two lists: behavioural ones make the fingerprint,
 * volatile ones are only stored.
 *
 * F1 A field in neither list is refused: whoever adds one to DeclaredManifest says here whether it decides behaviour.
 * F2 A field in both cannot be written down: the lists are one table.
 */
import type { JsonValue } from "./json.ts";

export type FieldClass = "behavioural" | "volatile";

interface Field {
  readonly class: FieldClass;
  /** What it is in words; {item} is the name of the tool, plugin or state key that it belongs to. */
  readonly says: string;
}

function behavioural(says: string): Field {
  return { class: "behavioural", says };
}

function volatile(says: string): Field {
  return { class: "volatile", says };
}

/** A field stands for everything below it. `[]` is an item of a list. */
export const manifestFields: Readonly<Record<string, Field>> = {
  format: behavioural("the format of the manifest"),
  agent: behavioural("the agent's name"),
  version: behavioural("the agent's version"),
  "model.provider": behavioural("the model's provider"),
  "model.model": behavioural("the model"),
  "model.toolCalls": behavioural("whether the model can call tools"),
  "model.structuredOutput": behavioural("whether the model can be bound to a schema"),
  "model.prices": behavioural("the model's prices"),
  "model.accepts": behavioural("what the model can read"),
  "model.contextWindow": behavioural("how many tokens fit into a call of the model"),
  "model.maxOutputTokens": behavioural("the most tokens of an answer of the model"),
  "instructions.kind": behavioural("whether the instructions are text or a function"),
  "instructions.text": behavioural("the instructions"),
  "tools[].name": behavioural("tool {item}"),
  "tools[].version": behavioural("the version of tool {item}"),
  "tools[].description": behavioural("the description of tool {item}"),
  "tools[].inputSchema": behavioural("the input schema of tool {item}"),
  "tools[].effect": behavioural("the effect class of tool {item}"),
  "tools[].resume": behavioural("what a decision does with a call of tool {item}"),
  "tools[].gate": behavioural("when tool {item} needs approval"),
  "tools[].timeoutMs": behavioural("the timeout of tool {item}"),
  "tools[].concurrency": behavioural("how many calls of tool {item} may run at once"),
  "tools[].onUnknown": behavioural("what is done when the outcome of tool {item} is unknown"),
  "tools[].reconciles": behavioural("whether tool {item} can be asked if it took effect"),
  "tools[].transaction": behavioural("the store that tool {item} writes in"),
  "tools[].approval": behavioural("who may approve tool {item}, until when, and what counts if nobody does"),
  "tools[].writes": behavioural("the state keys that tool {item} writes"),
  context: behavioural("the context schema"),
  "output.schema": behavioural("the output schema"),
  "output.mode": behavioural("how the model is asked for the output"),
  "output.repairs": behavioural("how often an answer that does not fit is repaired"),
  "output.onInvalid": behavioural("how a run ends whose answer never fits"),
  "history.tokens": behavioural("the most tokens that a call sends"),
  "history.recent": behavioural("how many of the newest messages are always sent"),
  "history.resultTokens": behavioural("from how many tokens on an old result is shortened"),
  "history.compact": behavioural("how older messages are summarised"),
  "plugins[].name": behavioural("plugin {item}"),
  "plugins[].version": behavioural("the version of plugin {item}"),
  "plugins[].config": behavioural("the config of plugin {item}"),
  "state[].name": behavioural("state key {item}"),
  "state[].scope": behavioural("the scope of state key {item}"),
  "state[].version": behavioural("the version of state key {item}"),
  "state[].merge": behavioural("how values of state key {item} are merged"),
  "backend.name": behavioural("the backend"),
  "backend.endpoint.baseUrl": behavioural("the address of the backend"),
  "backend.endpoint.auth": behavioural("how the backend is logged in to"),
  "backend.endpoint.target": behavioural("which agent of the backend is meant"),
  "backend.endpoint.timeoutMs": behavioural("how long a turn of the backend may take"),
  "backend.endpoint.options": behavioural("the options of the backend"),
  "backend.adapt": behavioural("what may be done in another way for the backend"),
  "delegates[].name": behavioural("delegate {item}"),
  "delegates[].agent": behavioural("the agent of delegate {item}"),
  "delegates[].declared": behavioural("the most that delegate {item} may be"),
  "delegates[].budget": behavioural("the most that a run of delegate {item} may use up"),
  "delegates[].readOnly": behavioural("whether delegate {item} may only read"),
  "delegates[].ephemeral": behavioural("whether runs of delegate {item} are dropped after they ended"),
  "delegates[].background": behavioural("whether delegate {item} works beside the run that calls it"),
  "delegates[].handoff": behavioural("whether the run goes on as delegate {item}"),
  under: behavioural("whose delegate it is"),
  "budget.steps": behavioural("the budget of steps"),
  "budget.wallTimeMs": behavioural("the budget of time"),
  "budget.tokens": behavioural("the budget of tokens"),
  "budget.microUsd": behavioural("the budget of money, in millionths of a US dollar"),
  "budget.depth": behavioural("how many levels of delegates may be below"),
  "budget.children": behavioural("how many runs delegates may be given"),
  sinks: behavioural("the sinks that are told how runs end"),
  "declaredBy.holdfast": volatile("the version of Holdfast that declared it"),
};

/** One field of a manifest at hand. */
export interface FoundField {
  readonly pattern: string;
  /** The pattern with the names of the items in it. */
  readonly path: string;
  readonly item: string | undefined;
  readonly field: Field | undefined;
  readonly value: JsonValue;
}

/** Every field that the manifest has; `field` is undefined for one that is in neither list. */
export function fieldsOf(manifest: object): readonly FoundField[] {
  return walk(manifest as unknown as JsonValue, { pattern: "", path: "", item: undefined });
}

type Place = Pick<FoundField, "pattern" | "path" | "item">;

function walk(value: JsonValue, place: Place): readonly FoundField[] {
  const field = Object.hasOwn(manifestFields, place.pattern) ? manifestFields[place.pattern] : undefined;
  if (field || typeof value !== "object" || value === null) return [{ ...place, field, value }];
  if (Array.isArray(value)) return value.flatMap((item: JsonValue, index) => walk(item, itemPlace(place, item, index)));
  return Object.entries(value).flatMap(([name, inner]) =>
    inner === undefined
      ? []
      : walk(inner, { ...place, pattern: below(place.pattern, name), path: below(place.path, name) }),
  );
}

function itemPlace(list: Place, item: JsonValue, index: number): Place {
  const name = String((item as { name?: unknown } | null)?.name ?? index);
  return { pattern: `${list.pattern}[]`, path: `${list.path}[${name}]`, item: name };
}

function below(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** The manifest without what is volatile, whatever it is; lists keep their order. */
export function behaviouralPart(value: JsonValue, pattern = ""): JsonValue | undefined {
  if (Object.hasOwn(manifestFields, pattern)) return manifestFields[pattern]?.class === "volatile" ? undefined : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => behaviouralPart(item, `${pattern}[]`) ?? null);
  const kept = Object.entries(value).map(([name, inner]) => [name, behaviouralPart(inner, below(pattern, name))]);
  const present = kept.filter(([, inner]) => inner !== undefined);
  return present.length === 0 && kept.length > 0 ? undefined : (Object.fromEntries(present) as JsonValue);
}
