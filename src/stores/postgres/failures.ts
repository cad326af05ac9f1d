/**
 * What an error of the server or the connection means, decided once.
 *
 * F1 An answer of the server with a severity of ERROR is certain: the transaction was undone, also when it answers COMMIT.
 * F2 No answer, or one that says the connection is closed (FATAL), leaves the outcome open when the statement could have
 *    made the work durable; before that nothing was written, because a transaction dies with its connection.
 * F3 Serialization failures and deadlocks are certain, and the same work may be tried again at once.
 */
import { HoldfastError, isHoldfastError } from "../../domain/errors.ts";

/** `commit`: the statement that failed could have made the work durable. */
export type Phase = "work" | "commit";

export type Failure =
  /** Nothing was written; the same work may be done again at once. */
  | { readonly kind: "again"; readonly cause: unknown }
  /** Nothing was written, because the connection was lost. */
  | { readonly kind: "lost"; readonly error: HoldfastError }
  | { readonly kind: "thrown"; readonly error: HoldfastError };

/** Rows were not as a job had found them when it took its locks. Nothing is written; the group begins anew. */
export class TryAgain extends Error {}

/** A statement that nobody waits for any more still runs on the session. Nothing was written. */
export class HungSession extends Error {
  readonly error: HoldfastError;
  constructor(error: HoldfastError) {
    super(error.message);
    this.error = error;
  }
}

/** And unique_violation: another transaction was first with a key, an id or a thread, and its rows are seen next time. */
const repeated: readonly string[] = ["40001", "40P01", "23505"];
/** lock_not_available: a foreign transaction holds the row. */
const locked = "55P03";
const tooMany: readonly string[] = ["53300", "53400", "53200"];
const full = "53100";
/** A prepared statement that is not there, there already, or older than the table: another connection has none of it. */
const stale: readonly string[] = ["26000", "42P05", "0A000"];
/** insufficient_privilege: a right was taken away while we worked. */
const noRight = "42501";
/** read_only_sql_transaction: the connection leads to a server that is a standby now; another one may lead to the new one. */
const readOnly = "25006";

export function failureOf(cause: unknown, phase: Phase, name: string): Failure {
  if (cause instanceof TryAgain) return { kind: "again", cause };
  if (isHoldfastError(cause)) return { kind: "thrown", error: cause };
  if (cause instanceof HungSession) return { kind: "thrown", error: cause.error };
  const code = sqlState(cause);
  if (isLost(cause)) {
    if (phase === "commit")
      return thrown("commit-unknown", `${name}: whether the commit was written is not known`, cause);
    return { kind: "lost", error: unavailable(name, cause) };
  }
  if (code === undefined) return thrown("store-unavailable", `${name}: the store failed`, cause);
  if (repeated.includes(code)) return { kind: "again", cause };
  if (stale.includes(code)) return { kind: "lost", error: stalePlan(name, cause) };
  if (code === readOnly) return { kind: "lost", error: unwritable(name, cause) };
  if (code === full) return thrown("store-full", `${name}: no space left; nothing of this call was written`, cause);
  if (code === locked || tooMany.includes(code)) return { kind: "thrown", error: storeBusy(name, cause) };
  if (code === noRight) return { kind: "thrown", error: unpermitted(name, cause) };
  return thrown("store-unavailable", `${name}: the server refused with code ${code}`, cause);
}

function thrown(code: "store-full" | "store-unavailable" | "commit-unknown", message: string, cause: unknown): Failure {
  return { kind: "thrown", error: new HoldfastError(code, message, { cause }) };
}

function unavailable(name: string, cause: unknown): HoldfastError {
  return new HoldfastError("store-unavailable", `${name}: the connection was lost; nothing was written`, { cause });
}

function unwritable(name: string, cause: unknown): HoldfastError {
  return new HoldfastError("store-unavailable", `${name}: the server takes no writes; is it a standby now?`, { cause });
}

function unpermitted(name: string, cause: unknown): HoldfastError {
  const message = `${name}: a right was taken from the role (${reasonOf(cause)}); grant it again, and the work goes on`;
  return new HoldfastError("store-unavailable", message, { cause });
}

export const keepsNoStatements =
  "a prepared statement was refused; behind a pooler that keeps none use postgres({ prepare: false })";

function stalePlan(name: string, cause: unknown): HoldfastError {
  return new HoldfastError("store-unavailable", `${name}: ${keepsNoStatements}`, { cause });
}

export function storeBusy(name: string, cause: unknown): HoldfastError {
  const message = `${name}: rows or connections are held by others; nothing of this call was written`;
  return new HoldfastError("store-busy", message, { cause });
}

/** Why there is no connection at all. Nothing was sent. */
export function connectFailure(name: string, cause: unknown): HoldfastError {
  const code = sqlState(cause);
  if (isPoolTimeout(cause)) {
    const message = `${name}: every connection of this process was in use for too long; raise postgres({ connections })`;
    return new HoldfastError("store-busy", message, { cause });
  }
  if (code !== undefined && tooMany.includes(code)) {
    const advice = "raise max_connections of the server, or lower postgres({ connections }) of its clients";
    const message = `${name}: the server has no connection left for this process (${reasonOf(cause)}); ${advice}`;
    return new HoldfastError("store-busy", message, { cause });
  }
  const advice = code === undefined ? "; is the server up, and are host and port right?" : "";
  const message = `${name}: cannot be reached (${reasonOf(cause)})${advice}`;
  return new HoldfastError("store-unavailable", message, { cause });
}

/** All our own connections are busy: the server was not asked. */
export function isPoolTimeout(cause: unknown): boolean {
  return sqlState(cause) === undefined && String(cause).includes("timeout exceeded when trying to connect");
}

/** The session can no longer be used. */
export function isLost(cause: unknown): boolean {
  if (isHoldfastError(cause) || cause instanceof TryAgain) return false;
  if (cause instanceof HungSession) return true;
  const code = sqlState(cause);
  if (code === undefined) return true;
  const { severity } = cause as { severity?: unknown };
  return code.startsWith("08") || code.startsWith("57P") || severity === "FATAL" || severity === "PANIC";
}

/** The session answers, but a fresh one will do better. */
export function isStale(cause: unknown): boolean {
  const code = sqlState(cause) ?? "";
  return stale.includes(code) || code === readOnly;
}

/** The SQLSTATE, when the server has answered. */
export function sqlState(cause: unknown): string | undefined {
  const { code, severity } = (cause ?? {}) as { code?: unknown; severity?: unknown };
  return typeof code === "string" && typeof severity === "string" ? code : undefined;
}

/** In a few words, without the URL. */
export function reasonOf(cause: unknown): string {
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  if (typeof message === "string" && message !== "") return message;
  return typeof code === "string" ? code : "no reason was given";
}
