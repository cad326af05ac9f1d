/**
 * Stands before the logger: nothing reaches it that the rules of redaction hide. What cannot be looked into is not shown:
 * a live object may hold anything, and may show it to whoever writes it down.
 */
import { type JsonValue, messageOf, toJson } from "../domain/json.ts";
import type { Redactor } from "../domain/redaction.ts";
import { isSecret, secretMark } from "../domain/secret.ts";
import type { Logger } from "../ports/logger.ts";

type Details = Readonly<Record<string, unknown>>;

export function redactingLogger(logger: Logger, redactor: Redactor): Logger {
  const seen = (details: Details | undefined): [] | [Details] => (details ? [redactDetails(details, redactor)] : []);
  return {
    warn: (message, details) => logger.warn(redactor.text(message), ...seen(details)),
    note: (message, details) => logger.note(redactor.text(message), ...seen(details)),
  };
}

/** It must not throw, whatever a tool has logged. */
function redactDetails(details: Details, redactor: Redactor): Details {
  try {
    return redactor.json(plain(details, 0)) as Details;
  } catch (cause) {
    return { details: redactor.text(`(cannot be shown: ${messageOf(cause)})`) };
  }
}

const deepest = 32;

/** Plain data as it is, errors in words, all else as the JSON that it makes of itself. */
function plain(value: unknown, depth: number): JsonValue {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object") return value === undefined ? null : "(code)";
  if (isSecret(value)) return secretMark;
  if (value instanceof Error) return String(value);
  if (ArrayBuffer.isView(value)) return `(${value.byteLength} bytes)`;
  if (depth >= deepest) return "(too deep)";
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return written(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, plain(field, depth + 1)]));
}

function written(value: object): JsonValue {
  const json = toJson(value);
  return json.ok ? json.value : `(${json.problem})`;
}
