/**
 * The rows that a group will change, locked before any member writes: threads first, then runs, each by number.
 *
 * K1 Nothing else waits for a row of a thread or run, except single statements that hold nothing (renew, release).
 *    Claims skip what is locked. So two groups cannot wait for each other.
 * K2 Who queues on a thread, leaves it, is promoted on it or erased from it holds the thread; so its active run and its
 *    queue, read after the first statement, are still the same when the second one locks them.
 */
import type { RunKey } from "../../ports/store.ts";
import type { ThreadKey } from "../../ports/thread-store.ts";
import type { Tx } from "./access.ts";
import type { Session } from "./database.ts";

export interface Needs {
  readonly runs?: readonly RunKey[];
  readonly threads?: readonly ThreadKey[];
  /** The threads of these runs. */
  readonly threadsOf?: readonly RunKey[];
}

/** Sub-queries of one row each, and numbers as an array: a server that guesses wrong still goes through the indexes. */
const runsNamed = (scopes: string, ids: string, column: "no" | "thread"): string => `SELECT found.${column}
    FROM unnest(${scopes}::text[], ${ids}::text[]) AS wanted (scope, id) CROSS JOIN LATERAL (
      SELECT no, thread FROM hf.runs WHERE runs.scope = wanted.scope AND runs.id = wanted.id LIMIT 1) AS found`;

const lockThreads = `SELECT no FROM hf.threads WHERE no = ANY (ARRAY(
    SELECT found.no FROM unnest($1::text[], $2::text[]) AS wanted (scope, id) CROSS JOIN LATERAL (
      SELECT no FROM hf.threads WHERE threads.scope = wanted.scope AND threads.id = wanted.id LIMIT 1) AS found
    UNION ${runsNamed("$3", "$4", "thread")}
  )) ORDER BY no FOR UPDATE`;

/** With a thread come its active run, which a birth may ask to end, and the next of its queue, which an end promotes. */
const lockRuns = `SELECT no FROM hf.runs WHERE no = ANY (ARRAY(
    ${runsNamed("$1", "$2", "no")}
    UNION SELECT active FROM hf.threads WHERE no = ANY ($3::bigint[]) AND active IS NOT NULL
    UNION SELECT next.no FROM unnest($3::bigint[]) AS wanted (no) CROSS JOIN LATERAL (
      SELECT no FROM hf.runs WHERE thread = wanted.no AND queued ORDER BY turn LIMIT $4) AS next
  )) ORDER BY no FOR NO KEY UPDATE`;

export async function lockRows(session: Session, needs: readonly Needs[]): Promise<Tx> {
  const threads = needs.flatMap((each) => each.threads ?? []);
  const threadsOf = needs.flatMap((each) => each.threadsOf ?? []);
  const runs = needs.flatMap((each) => each.runs ?? []);
  const held = new Set<number>();
  if (threads.length + threadsOf.length > 0) {
    const values = [threads.map((t) => t.scope), threads.map((t) => t.thread), ...columnsOf(threadsOf)];
    for (const { no } of await session.all<{ no: number }>(lockThreads, values)) held.add(no);
  }
  if (runs.length + held.size > 0) {
    await session.all(lockRuns, [...columnsOf(runs), [...held], needs.length]);
  }
  const { all, get, run, foreign } = session;
  return { all, get, run, foreign, threads: held };
}

function columnsOf(runs: readonly RunKey[]): readonly [readonly string[], readonly string[]] {
  return [runs.map((each) => each.scope), runs.map((each) => each.run)];
}
