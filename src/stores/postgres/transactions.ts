/**
 * What a transactional tool gets: statements inside the store's own transaction.
 *
 * T1 Deadlocks, serialization failures and lost connections are the store's matter: the whole is done again.
 * T2 After it nothing can be done with `tx` any more; a connection on which a statement still runs is thrown away.
 * T3 The transaction that was begun is the one that is committed: a statement that failed fails the whole.
 * T4 A value that cannot be sent is the tool's matter: the session still answers.
 * T5 What only COMMIT refuses (deferred constraints and triggers) is the tool's matter, too.
 * T6 The server gives a statement up soon after its caller has: until then it would hold the run's row.
 * T7 Nothing of it stays on the connection, which is everyone's: a setting is set with SET LOCAL, and what slipped through
 *    (set_config, session locks) is taken back before the connection is given back.
 */
import type { EntryBody } from "../../domain/entry.ts";
import { isHoldfastError } from "../../domain/errors.ts";
import type { Commit, Transact } from "../../ports/store.ts";
import { applyFailed } from "../shared/refusals.ts";
import { changesRole, endsTransaction, setsForLater } from "../shared/tx-statements.ts";
import type { Tx } from "./access.ts";
import type { ForeignResult } from "./database.ts";
import { HungSession, isLost, sqlState } from "./failures.ts";

type Work = Pick<Commit, "transactionMs"> & { readonly transaction: Transact };

export interface PostgresTransaction {
  query<Row = Record<string, unknown>>(
    sql: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly Row[]; readonly rowCount: number }>;
}

/** Deadlock, serialization failure, a row that others hold; besides lost connections and a server without room. */
const ours: readonly string[] = ["40001", "40P01", "55P03"];

/** A server that gives up first would hide from the caller that it was the time. */
const graceMs = 1_000;
/** T6, and a pause between two statements may be as long. */
const setPatience = `SELECT set_config('statement_timeout', $1::text, true),
  set_config('idle_in_transaction_session_timeout', greatest($1::bigint, 10000)::text, true)`;
/** What follows is the store's own, and COMMIT must not be cut short. */
const resetPatience = "SET LOCAL statement_timeout TO DEFAULT";

export async function applyIn(tx: Tx, { transaction, transactionMs }: Work): Promise<readonly EntryBody[]> {
  if (transactionMs === undefined) return applied(tx, transaction);
  await tx.get(setPatience, [transactionMs + graceMs]);
  const entries = await applied(tx, transaction);
  await tx.run(resetPatience).catch(refuseAborted);
  return entries;
}

async function applied(tx: Tx, transaction: Transact): Promise<readonly EntryBody[]> {
  let isOver = false;
  let running = 0;
  let failed: unknown;
  async function query(sql: string, values: readonly unknown[] = []): Promise<ForeignResult> {
    if (isOver) throw new Error("This transaction is over: apply(tx, …) must not keep tx");
    if (endsTransaction(sql)) throw new Error(`A tool must not end the store's transaction: ${sql}`);
    if (changesRole(sql))
      throw new Error(`A tool must not change the role: the store writes in this transaction too: ${sql}`);
    if (setsForLater(sql)) throw new Error(`A setting must not outlive the transaction: use SET LOCAL for ${sql}`); // T7
    running += 1;
    try {
      return await tx.foreign(sql, values);
    } catch (cause) {
      failed ??= cause;
      throw cause;
    } finally {
      running -= 1;
    }
  }
  try {
    const entries = await transaction({ query });
    if (failed !== undefined) throw failed; // T3: swallowed or not awaited
    return entries;
  } catch (cause) {
    if (failed !== undefined && (await isStoreMatter(failed, tx))) throw failed; // T1, whatever the tool made of it
    const error = isHoldfastError(cause, "apply-failed") ? cause : applyFailed("apply threw", cause);
    throw running > 0 ? new HungSession(error) : error; // T2
  } finally {
    isOver = true;
  }
}

async function isStoreMatter(cause: unknown, tx: Tx): Promise<boolean> {
  if (sqlState(cause) !== undefined) return isOurs(cause);
  return tx.foreign("SELECT 1", []).then(() => false, isLost); // T4: whatever it answers, it is there
}

function isOurs(cause: unknown): boolean {
  const code = sqlState(cause);
  return code === undefined || ours.includes(code) || /^(?:08|53|57P)/.test(code);
}

/** T5. */
export function refusedByCommit(cause: unknown): unknown {
  return isOurs(cause) ? cause : applyFailed("COMMIT refused it", cause);
}

/** A statement that the tool did not await failed after it: the server refuses whatever follows (T3). */
export function refuseAborted(cause: unknown): never {
  throw sqlState(cause) === "25P02" ? applyFailed("a statement of apply failed", cause) : cause;
}

/** T7. After the transaction, on a connection that a tool has used. */
export const takeBack = "RESET ALL; SELECT pg_advisory_unlock_all()";
