/**
 * Errors find their way into logs of all kinds. Those about what somebody gave (an input, a context, an answer) may repeat it:
 * in the words of a schema, as the name of a field, in what a getter threw. What they say goes by the rules of redaction.
 */
import { HoldfastError, isHoldfastError } from "../domain/errors.ts";
import { type JsonObject, messageOf, toJson } from "../domain/json.ts";
import type { Redactor } from "../domain/redaction.ts";
import type { Desk } from "./desk.ts";

export async function redactingErrors<T>({ redactor }: Pick<Desk, "redactor">, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw isHoldfastError(cause) ? redacted(cause, redactor) : cause;
  }
}

function redacted(error: HoldfastError, redactor: Redactor): HoldfastError {
  const { code, message, problems, details, cause } = error;
  const suffix = problems.length > 0 ? `: ${problems.join("; ")}` : ""; // which the constructor puts there
  const seen = new HoldfastError(code, redactor.text(message.slice(0, message.length - suffix.length)), {
    problems: problems.map((problem) => redactor.text(problem)),
    details: redactDetails(details, redactor),
    ...(cause === undefined ? {} : { cause: redactCause(cause, redactor, 0) }),
  });
  seen.stack = redactor.text(error.stack ?? "");
  return seen;
}

function redactDetails(details: HoldfastError["details"], redactor: Redactor): JsonObject {
  const json = toJson(details);
  return json.ok ? (redactor.json(json.value) as JsonObject) : {};
}

const deepest = 8;

/** Somebody else's error may hold anything: its words and its stack are kept, and those of what caused it. */
function redactCause(given: unknown, redactor: Redactor, depth: number): Error {
  const { cause, stack = "" } = given instanceof Error ? given : {};
  const isLast = cause === undefined || depth === deepest;
  const seen = new Error(
    redactor.text(messageOf(given)),
    isLast ? {} : { cause: redactCause(cause, redactor, depth + 1) },
  );
  seen.stack = redactor.text(stack);
  return seen;
}
