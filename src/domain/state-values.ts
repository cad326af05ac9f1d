/** Values of state keys at the border between user code and the journal: checked by their schema, small, and JSON (K2). */
import { type JsonValue, messageOf, toJson } from "./json.ts";
import { type StandardSchema, showIssues } from "./standard-schema.ts";
import { stateLimits } from "./state-slots.ts";

export type CheckedValue =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problem: string };

const limits = { maxBytes: stateLimits.keyBytes, maxDepth: 64 };

/** A state schema answers at once: values are checked between two entries of one commit. */
export function checkedValue(schema: StandardSchema, value: unknown): CheckedValue {
  try {
    const result = schema["~standard"].validate(value);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      return { ok: false, problem: "its schema answers with a promise; a state schema must be synchronous" };
    }
    if (result.issues) return { ok: false, problem: showIssues(result.issues) };
    return jsonValue(result.value);
  } catch (cause) {
    return { ok: false, problem: `checking it threw: ${messageOf(cause)}` };
  }
}

export function jsonValue(value: unknown): CheckedValue {
  const json = toJson(value, limits);
  return json.ok ? json : { ok: false, problem: `${json.problem} at ${json.path}` };
}
