/**
 * Leases (S7): a claim is refused by the lease's time, a write only by the epoch.
 *
 * L1 Claimable runs are found through one partial index on agent, priority and `due`, one seek for each pair: nobody pays
 *    for the backlog of agents that others run. Some more are looked at than are wanted, and then locked in their order.
 *    What another transaction holds is passed over: it is being claimed, or written to, and is found by the next look. So
 *    are suspects; only when they alone are more than all that is looked at does anybody wait behind them.
 * L2 The thread's position is read after the claim: no run but the claimed one can move it any more, and a run claimed
 *    while it is queued only sees a fresher one.
 */
import type { RunId, Scope, ThreadId } from "../../domain/ids.ts";
import { priorities } from "../../domain/run.ts";
import {
  type Claim,
  type ClaimRequest,
  type DueScopes,
  type DueScopesRequest,
  type RenewAnswer,
  type Renewal,
  suspectAfter,
} from "../../ports/store.ts";
import { type Access, type RowWait, storeTime } from "./access.ts";
import type { Queries } from "./database.ts";
import { type Job, keyOf } from "./jobs.ts";

interface ClaimRow {
  readonly no: number;
  readonly id: RunId;
  readonly thread_id: ThreadId;
  readonly agent: string;
  readonly epoch: number;
  readonly lease_until: number;
  readonly crashes: number;
  readonly may_start: boolean;
}

const columns = (time: string): string => `runs.no, runs.id, runs.thread_id, runs.agent, runs.epoch, runs.lease_until,
  runs.crashes, runs.status <> 'created' OR (NOT runs.queued AND runs.ready <= ${storeTime(time)}) AS may_start`;

const levels = `(VALUES ${priorities.map((priority) => `(${priority})`).join(", ")}) AS level (priority)`;

const dueBy = `(SELECT least(${storeTime("$5")}, $8::bigint))`;

/** The second look at `due`, under the lock, is so written that no planner walks the index on `due` for a few known rows. */
const freeRuns = (which: string): string => `SELECT no, priority, due FROM hf.runs
  WHERE no = ANY (ARRAY(SELECT no FROM candidates)) AND coalesce(due <= ${dueBy}, false) AND ${which}
  ORDER BY priority DESC, due, no`;

export const takeDue = `WITH candidates AS MATERIALIZED (
    SELECT found.no FROM unnest($2::text[]) AS wanted (agent) CROSS JOIN ${levels} CROSS JOIN LATERAL (
      SELECT no, priority, due FROM hf.runs
      WHERE scope = $1 AND agent = wanted.agent AND priority = level.priority AND due <= ${dueBy}
      ORDER BY due, no LIMIT $3::bigint * 3 + 32
    ) AS found ORDER BY found.priority DESC, found.due, found.no LIMIT $3::bigint * 3 + 32
  ), suspect AS MATERIALIZED (
    ${freeRuns(`crashes >= ${suspectAfter}`)} LIMIT least($3::bigint, $7::bigint) FOR NO KEY UPDATE SKIP LOCKED
  ), others AS MATERIALIZED (
    ${freeRuns(`crashes < ${suspectAfter}`)} LIMIT $3::bigint FOR NO KEY UPDATE SKIP LOCKED
  ), free AS MATERIALIZED (
    SELECT * FROM (SELECT * FROM suspect UNION ALL SELECT * FROM others) AS both_kinds
    ORDER BY priority DESC, due, no LIMIT $3::bigint
  ), taken AS (
    UPDATE hf.runs SET epoch = epoch + 1, crashes = crashes + 1, lease_until = ${storeTime("$5")} + $4::bigint, claim_id = $6
    WHERE no = ANY (ARRAY(SELECT no FROM free)) RETURNING ${columns("$5")}
  )
  SELECT taken.* FROM taken JOIN free USING (no) ORDER BY free.priority DESC, free.due, no`;

/** Rare, after an unknown outcome only: a walk over the runs that can be claimed is cheaper than one more index. */
const findClaimed = `SELECT ${columns("$3")} FROM hf.runs
  WHERE scope = $1 AND due IS NOT NULL AND claim_id = $2 AND lease_until IS NOT NULL ORDER BY no LIMIT 1000`;

export function claimJob(access: Access, request: ClaimRequest): Job<readonly Claim[]> {
  const take = async (db: Queries): Promise<readonly Claim[]> => {
    const { scope, agents, limit, leaseMs, claimId } = request;
    const held = request.again ? await db.all<ClaimRow>(findClaimed, [scope, claimId, access.time()]) : [];
    const most = Math.max(0, limit);
    const { trials = most } = request;
    const values = [scope, [...new Set(agents)], most, leaseMs, access.time(), claimId, trials, request.dueBy ?? null];
    const rows = held.length > 0 ? held : await db.all<ClaimRow>(takeDue, values);
    return rows.length === 0 ? [] : placed(db, rows, request);
  };
  return { scope: request.scope, keys: [], bytes: 0, needs: {}, alone: take, write: take };
}

const findPositions = `SELECT threads.position FROM unnest($1::bigint[]) WITH ORDINALITY AS claimed (no, ord)
  JOIN hf.runs USING (no) JOIN hf.threads ON threads.no = runs.thread ORDER BY ord`;

/** L2. */
async function placed(db: Queries, rows: readonly ClaimRow[], request: ClaimRequest): Promise<readonly Claim[]> {
  const positions = await db.all<{ position: number }>(findPositions, [rows.map(({ no }) => no)]);
  return rows.map((row, index) => ({
    scope: request.scope,
    run: row.id,
    thread: row.thread_id,
    agent: row.agent,
    epoch: row.epoch,
    leaseUntil: row.lease_until,
    crashes: row.crashes,
    threadPosition: positions[index]?.position ?? 0,
    mayStart: row.may_start,
  }));
}

/** A lease that went with a commit or release is not brought back: it would hide the run from the next claim. */
const moveLease = (wait: RowWait): string => `WITH held AS MATERIALIZED (
    SELECT no FROM hf.runs WHERE scope = $1 AND id = $2 AND epoch = $3 AND lease_until IS NOT NULL
    FOR NO KEY UPDATE ${wait}
  )
  UPDATE hf.runs SET lease_until = ${storeTime("$4")} + $5::bigint FROM held WHERE runs.no = held.no
  RETURNING lease_until, head`;

export function renewJob(access: Access, renewal: Renewal): Job<RenewAnswer> {
  const { scope, run, epoch, leaseMs } = renewal;
  const renew = async (db: Queries, wait: RowWait): Promise<RenewAnswer | undefined> => {
    const values = [scope, run, epoch, access.time(), leaseMs];
    const row = await db.get<{ lease_until: number; head: number }>(moveLease(wait), values);
    return row && { kind: "renewed", leaseUntil: row.lease_until, head: row.head };
  };
  return {
    ...{ scope, keys: [keyOf(renewal)], bytes: 0, needs: { runs: [renewal] } },
    alone: (db) => renew(db, "SKIP LOCKED"),
    write: async (tx) => (await renew(tx, "")) ?? { kind: "fenced" },
  };
}

/** The first time in a scope, one seek for each agent and priority. */
const firstOf = (scope: string): string => `SELECT min(first.due) AS due
  FROM unnest($2::text[]) AS wanted (agent) CROSS JOIN ${levels} CROSS JOIN LATERAL (
    SELECT due FROM hf.runs WHERE scope = ${scope} AND agent = wanted.agent AND priority = level.priority AND due IS NOT NULL
    ORDER BY due, no LIMIT 1
  ) AS first`;

export const findNextDue: string = firstOf("$1");

export async function nextDue(
  db: Queries,
  { scope, agents }: Pick<ClaimRequest, "scope" | "agents">,
): Promise<number | undefined> {
  return (await db.get<{ due: number | null }>(findNextDue, [scope, agents]))?.due ?? undefined;
}

/** Jumps from scope to scope: costs the scopes it answers, whatever each of them holds. */
const findScopes = `WITH RECURSIVE seen (scope) AS (
    (SELECT scope FROM hf.runs WHERE due IS NOT NULL AND scope > $1 ORDER BY scope LIMIT 1)
    UNION ALL
    SELECT (SELECT scope FROM hf.runs WHERE due IS NOT NULL AND scope > seen.scope ORDER BY scope LIMIT 1)
    FROM seen WHERE seen.scope IS NOT NULL
  ), page AS MATERIALIZED (SELECT scope FROM seen WHERE scope IS NOT NULL LIMIT $3)
  SELECT page.scope, (${firstOf("page.scope")}) AS due FROM page ORDER BY page.scope`;

export async function dueScopes(db: Queries, { agents, after, limit }: DueScopesRequest): Promise<DueScopes> {
  const rows = await db.all<{ scope: Scope; due: number | null }>(findScopes, [after ?? "", agents, limit + 1]);
  const page = rows.slice(0, limit);
  const scopes = page.flatMap(({ scope, due }) => (due === null ? [] : [{ scope, due }]));
  const last = page.at(-1)?.scope;
  return { scopes, ...(last === undefined || rows.length <= limit ? {} : { next: last }) };
}
