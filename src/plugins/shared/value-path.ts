/**
 * Paths into a JSON value: `a.b` fields, `[0]` an item of a list, `[*]` every item, `*` every field of a record.
 * A field's name is any run of characters that mean nothing else here.
 */
import type { JsonValue } from "../../domain/json.ts";
import type { Reader } from "../../domain/patterns/reader.ts";

type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "item"; readonly index: number }
  | { readonly kind: "every-field" }
  | { readonly kind: "every-item" };

export type ValuePath = readonly Step[];

const separators = " \t\r\n.[](),\"'~=!<>:*?";

/** Reads as far as the path goes; refuses what begins like a step and is none. */
export function readPath(reader: Reader): ValuePath {
  const steps: Step[] = [reader.sees("[") ? readItem(reader) : readField(reader)];
  for (;;) {
    if (reader.sees("[")) steps.push(readItem(reader));
    else if (reader.eat(".")) steps.push(readField(reader));
    else return steps;
  }
}

function readField(reader: Reader): Step {
  if (reader.eat("*")) return { kind: "every-field" };
  const name = reader.takeWhile((char) => !separators.includes(char));
  return name === "" ? reader.refuse("a field name is missing") : { kind: "field", name };
}

function readItem(reader: Reader): Step {
  const at = reader.at;
  const index = /^\[(\*|\d{1,9})\]/.exec(reader.text.slice(at, at + 11));
  if (!index) return reader.refuse('"[" needs a number or "*", and "]"', at);
  reader.at += index[0].length;
  return index[1] === "*" ? { kind: "every-item" } : { kind: "item", index: Number(index[1]) };
}

/** Every value the path leads to; none when something on the way is missing. */
export function valuesAt(value: JsonValue, path: ValuePath): readonly JsonValue[] {
  let found: readonly JsonValue[] = [value];
  for (const step of path) found = found.flatMap((each) => inside(each, step));
  return found;
}

function inside(value: JsonValue, step: Step): readonly JsonValue[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) {
    if (step.kind === "every-item") return value;
    return step.kind === "item" ? value.slice(step.index, step.index + 1) : [];
  }
  if (step.kind === "every-field") return Object.values(value);
  if (step.kind !== "field" || !Object.hasOwn(value, step.name)) return [];
  return [(value as { readonly [key: string]: JsonValue })[step.name] as JsonValue];
}
