/** A reply as a cassette keeps it: its parts as they came, and how it ended; secrets are taken out of the whole. */
import { type ErrorCode, HoldfastError } from "../../domain/errors.ts";
import { isDataUrl } from "../../domain/file-part.ts";
import type { JsonValue } from "../../domain/json.ts";
import { modelErrorOf, retryAfterOf } from "../../domain/model-error.ts";
import type { Redactor } from "../../domain/redaction.ts";
import type { ModelPart } from "../../ports/provider.ts";

export type RecordedEnd =
  | { readonly kind: "done" }
  /** Nobody waited for the rest. */
  | { readonly kind: "aborted" }
  | { readonly kind: "error"; readonly code: string; readonly message: string; readonly retryAfterMs?: number };

export function errorEnd(cause: unknown, redactor: Redactor): RecordedEnd {
  const error = modelErrorOf(cause);
  const retryAfterMs = retryAfterOf(error);
  const message = redactor.text(error.message);
  return { kind: "error", code: error.code, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

export function errorOf({ code, message, retryAfterMs }: Extract<RecordedEnd, { kind: "error" }>): HoldfastError {
  const details = retryAfterMs === undefined ? {} : { details: { retryAfterMs } };
  return new HoldfastError(code as ErrorCode, message, details);
}

type Delta = Extract<ModelPart, { text: string }>;

/**
 * A secret may come in pieces. Where something is taken out of what belongs together, it becomes one piece, in the place of
 * the first; everything else keeps the pieces in which it came.
 */
export function recordedParts(parts: readonly ModelPart[], redactor: Redactor): readonly ModelPart[] {
  const kept: (ModelPart | undefined)[] = [...parts];
  for (const group of groupsOf(parts)) {
    const whole = group.map((index) => (parts[index] as Delta).text).join("");
    // As the request of the next step will have it: input as JSON, anything else as text.
    const isInput = parts[group[0] ?? 0]?.type === "tool-input-delta";
    const seen = isInput ? redactJsonText(whole, redactor) : redactor.text(whole);
    if (seen === whole) continue;
    for (const [place, index] of group.entries()) {
      kept[index] = place === 0 ? { ...(parts[index] as Delta), text: seen } : undefined;
    }
  }
  return kept.filter((part) => part !== undefined).map((part) => redactPart(part, redactor));
}

/** Text and reasoning as the engine joins them; tool input by its call, which other parts may come between. */
function groupsOf(parts: readonly ModelPart[]): readonly (readonly number[])[] {
  const groups: number[][] = [];
  const open = new Map<string, number[]>();
  for (const [index, part] of parts.entries()) {
    if (part.type === "ping" || part.type === "finish") continue;
    if (part.type !== "tool-input-delta") closeTexts(open, part);
    if (part.type === "tool-call" || part.type === "file") continue;
    const key = part.type === "tool-input-delta" ? `input-${part.index}` : part.type;
    const group = open.get(key) ?? [];
    if (group.length === 0) groups.push(group);
    group.push(index);
    open.set(key, group);
  }
  return groups;
}

/** Another text begins. */
function closeTexts(open: Map<string, number[]>, part: ModelPart): void {
  for (const type of ["text-delta", "reasoning-delta"]) {
    if (part.type !== type || ("begins" in part && part.begins)) open.delete(type);
  }
}

function redactPart(part: ModelPart, redactor: Redactor): ModelPart {
  if (part.type === "tool-call") {
    const { inputText, ...rest } = part;
    const kept = redactor.json(rest as unknown as JsonValue) as unknown as typeof rest;
    return { ...kept, inputText: redactJsonText(inputText, redactor) };
  }
  if (part.type === "ping" || part.type === "finish") return part;
  if (part.type === "file") return { ...part, url: isDataUrl(part.url) ? part.url : redactor.text(part.url) };
  const { text, ...rest } = part;
  return { ...(redactor.json(rest as unknown as JsonValue) as object), text } as ModelPart;
}

/** Of JSON the values are looked at, so that it stays JSON; of anything else the text. */
function redactJsonText(text: string, redactor: Redactor): string {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return redactor.text(text);
  }
  if (typeof value !== "object" || value === null) return redactor.text(text);
  const before = JSON.stringify(value);
  const after = JSON.stringify(redactor.json(value));
  return before === after ? text : after;
}
