/**
 * Leases (S7): a claim is refused by the lease's time, a write only by the epoch.
 *
 * L1 Claimable runs are found through one partial index on `due`. What another transaction holds is passed over: it is
 *    being claimed, or written to, and is found by the next look.
 * L2 The thread's position is read after the claim: no run but the claimed one can move it any more, and a run claimed
 *    while it is queued only sees a fresher one.
 */
import type { RunId, ThreadId } from "../../domain/ids.ts";
import type { Claim, ClaimRequest, RenewAnswer, Renewal } from "../../ports/store.ts";
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
}

const columns = "runs.no, runs.id, runs.thread_id, runs.agent, runs.epoch, runs.lease_until, runs.crashes";

export const takeDue = `WITH free AS MATERIALIZED (
    SELECT no, due FROM hf.runs WHERE scope = $1 AND due <= ${storeTime("$5")} AND agent = ANY ($2::text[])
    ORDER BY due, no LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE hf.runs SET epoch = epoch + 1, crashes = crashes + 1, lease_until = ${storeTime("$5")} + $4::bigint, claim_id = $6
    WHERE no = ANY (ARRAY(SELECT no FROM free)) RETURNING ${columns}
  )
  SELECT taken.* FROM taken JOIN free USING (no) ORDER BY free.due, no`;

/** Rare, after an unknown outcome only: a walk over the runs that can be claimed is cheaper than one more index. */
const findClaimed = `SELECT ${columns} FROM hf.runs
  WHERE scope = $1 AND due IS NOT NULL AND claim_id = $2 AND lease_until IS NOT NULL ORDER BY no LIMIT 1000`;

export function claimJob(access: Access, request: ClaimRequest): Job<readonly Claim[]> {
  const take = async (db: Queries): Promise<readonly Claim[]> => {
    const { scope, agents, limit, leaseMs, claimId } = request;
    const held = request.again ? await db.all<ClaimRow>(findClaimed, [scope, claimId]) : [];
    const values = [scope, agents, Math.max(0, limit), leaseMs, access.time(), claimId];
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

export const findNextDue = `SELECT due FROM hf.runs
  WHERE scope = $1 AND due IS NOT NULL AND agent = ANY ($2::text[]) ORDER BY due, no LIMIT 1`;

export async function nextDue(
  db: Queries,
  { scope, agents }: Pick<ClaimRequest, "scope" | "agents">,
): Promise<number | undefined> {
  return (await db.get<{ due: number }>(findNextDue, [scope, agents]))?.due;
}
