/**
 * What a SQLite error means, decided once.
 *
 * F1 Busy is certain: nothing was written, and the same work may be tried again.
 * F2 A full disk is certain too: SQLite has undone the statement or the transaction, and reads go on.
 * F3 Any other error of a COMMIT (or of a statement that commits itself) leaves the outcome open: frames may be in the WAL.
 */
import { HoldfastError, isHoldfastError } from "../../domain/errors.ts";

/** `commit`: the statement that failed could have made the work durable. */
export type Phase = "work" | "commit";

export type Failure =
  | { readonly kind: "busy"; readonly cause: unknown }
  | { readonly kind: "thrown"; readonly error: HoldfastError };

/** BUSY, LOCKED, and PROTOCOL: a race of several processes for the WAL. */
const busyCodes: readonly number[] = [5, 6, 15];
const full = 13;
/** IOERR_WRITE (quota), IOERR_SHMSIZE: how a full disk looks where SQLite does not say FULL. */
const fullInDisguise: readonly number[] = [778, 4874];
/** CONSTRAINT, READONLY, TOOBIG, MISMATCH, RANGE: refused before anything could become durable. */
const certain: readonly number[] = [19, 8, 18, 20, 25];
/** ERROR, CORRUPT, MISUSE, NOTADB: the same call fails again, however often it is repeated. */
const hopeless: readonly number[] = [1, 11, 21, 26];

export function failureOf(cause: unknown, phase: Phase, path: string): Failure {
  if (isHoldfastError(cause)) return { kind: "thrown", error: cause };
  const code = sqliteCode(cause);
  if (code === undefined) return thrown("store-unusable", `${path}: the store failed`, cause);
  const primary = code & 0xff;
  if (busyCodes.includes(primary)) return { kind: "busy", cause };
  if (primary === full) return thrown("store-full", `${path}: no space left; nothing of this call was written`, cause);
  if (phase === "commit" && !certain.includes(primary)) {
    return thrown("commit-unknown", `${path}: whether the commit was written is not known`, cause);
  }
  if (fullInDisguise.includes(code)) return thrown("store-full", `${path}: the disk takes no more`, cause);
  const meaning = hopeless.includes(primary) ? "store-unusable" : "store-unavailable";
  return thrown(meaning, `${path}: SQLite refused with code ${code}`, cause);
}

type Meaning = "store-full" | "store-unavailable" | "store-unusable" | "commit-unknown";

function thrown(code: Meaning, message: string, cause: unknown): Failure {
  return { kind: "thrown", error: new HoldfastError(code, message, { cause }) };
}

export function storeBusy(path: string, cause: unknown): HoldfastError {
  return new HoldfastError("store-busy", `${path}: another process holds the store; nothing of this call was written`, {
    cause,
  });
}

/** SQLite's extended result code, if the error is SQLite's. */
export function sqliteCode(cause: unknown): number | undefined {
  const code = (cause as { errcode?: unknown } | null | undefined)?.errcode;
  return typeof code === "number" ? code : undefined;
}

export function isConstraint(cause: unknown): boolean {
  return ((sqliteCode(cause) ?? 0) & 0xff) === 19;
}

/** Not the fault of whoever wrote the statement. */
export function isStoreMatter(cause: unknown): boolean {
  const primary = (sqliteCode(cause) ?? 0) & 0xff;
  return primary === full || busyCodes.includes(primary);
}
