/**
 * Leases (S7): a claim is refused by the lease's time, a write only by the epoch.
 *
 * L1 Claimable runs are found through one partial index on agent, priority and `due`, one seek for each pair: nobody pays
 *    for the backlog of agents that others run. INDEXED BY makes a plan without it an error.
 * L2 A claim that finds nothing takes no write lock when it is alone: idle workers do not disturb busy ones.
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
import type { Access } from "./access.ts";
import type { Connection } from "./database.ts";
import type { Job } from "./group.ts";

export const findDue = `SELECT no, due, crashes FROM runs INDEXED BY runs_due
  WHERE scope = ? AND agent = ? AND priority = ? AND due <= ? ORDER BY due, no LIMIT ?`;

/** Only when more of those found are suspect than may be taken: the others are not to wait behind them. */
const findUnsuspected = findDue.replace("ORDER BY", `AND crashes < ${suspectAfter} ORDER BY`);

export const findNextDue = `SELECT due FROM runs INDEXED BY runs_due
  WHERE scope = ? AND agent = ? AND priority = ? AND due IS NOT NULL ORDER BY due LIMIT 1`;

/** Jumps from scope to scope: costs the scopes it answers, whatever each of them holds. */
export const findScopes = `WITH RECURSIVE found (scope) AS (
    SELECT (SELECT scope FROM runs INDEXED BY runs_due WHERE due IS NOT NULL AND scope > ?1 ORDER BY scope LIMIT 1)
    UNION ALL
    SELECT (SELECT scope FROM runs INDEXED BY runs_due WHERE due IS NOT NULL AND scope > found.scope ORDER BY scope LIMIT 1)
    FROM found WHERE found.scope IS NOT NULL
  )
  SELECT scope FROM found WHERE scope IS NOT NULL LIMIT ?2`;

/** Rare, after an unknown outcome only: a walk over the runs that can be claimed is cheaper than one more index. */
const findClaimed = `SELECT no FROM runs INDEXED BY runs_due
  WHERE scope = ? AND due IS NOT NULL AND claim_id = ? AND lease_until IS NOT NULL ORDER BY no LIMIT 1000`;

const columns = `id, thread_id, agent, epoch, lease_until, crashes, status = 'created' AS is_new, queued, ready,
  (SELECT position FROM threads WHERE threads.no = runs.thread) AS position`;
const takeRun = `UPDATE runs SET epoch = epoch + 1, crashes = crashes + 1, lease_until = ?2, claim_id = ?3
  WHERE no = ?1 RETURNING ${columns}`;
const readClaim = `SELECT ${columns} FROM runs WHERE no = ?1`;

interface ClaimRow {
  readonly id: RunId;
  readonly thread_id: ThreadId;
  readonly agent: string;
  readonly epoch: number;
  readonly lease_until: number;
  readonly crashes: number;
  readonly is_new: number;
  readonly queued: number;
  readonly ready: number;
  readonly position: number;
}

export function claimJob(access: Access, request: ClaimRequest): Job<readonly Claim[]> {
  return {
    bytes: 0,
    alone: () => (request.again || dueRuns(access, request).length > 0 ? undefined : []),
    write: () => writeClaims(access, request),
  };
}

function writeClaims(access: Access, request: ClaimRequest): readonly Claim[] {
  const { db, now } = access;
  const { scope, claimId } = request;
  const held = request.again ? db.all<{ no: number }>(findClaimed, scope, claimId) : [];
  const rows =
    held.length > 0
      ? held.map(({ no }) => db.get<ClaimRow>(readClaim, no))
      : dueRuns(access, request).map((no) => db.get<ClaimRow>(takeRun, no, now() + request.leaseMs, claimId));
  return rows.flatMap((row) => (row ? [claimOf(row, request, now())] : []));
}

interface DueRun {
  readonly no: number;
  readonly due: number;
  readonly crashes: number;
}

function dueRuns({ db, now }: Access, request: ClaimRequest): readonly number[] {
  const { scope, limit } = request;
  const time = Math.min(now(), request.dueBy ?? now());
  const names = [...new Set(request.agents)];
  const runs: number[] = [];
  let { trials = Number.POSITIVE_INFINITY } = request;
  for (const priority of priorities) {
    const left = Math.max(0, limit) - runs.length;
    if (left === 0) break;
    const found = names.flatMap((agent) => {
      const first = db.all<DueRun>(findDue, scope, agent, priority, time, left);
      if (first.filter(isSuspect).length <= trials) return first;
      return [...first.filter(isSuspect), ...db.all<DueRun>(findUnsuspected, scope, agent, priority, time, left)];
    });
    const may = found
      .sort((a, b) => a.due - b.due || a.no - b.no)
      .filter((run) => {
        if (!isSuspect(run)) return true;
        trials -= 1;
        return trials >= 0;
      });
    runs.push(...may.slice(0, left).map(({ no }) => no));
  }
  return runs;
}

function isSuspect({ crashes }: DueRun): boolean {
  return crashes >= suspectAfter;
}

function claimOf(row: ClaimRow, { scope }: ClaimRequest, now: number): Claim {
  return {
    scope,
    run: row.id,
    thread: row.thread_id,
    agent: row.agent,
    epoch: row.epoch,
    leaseUntil: row.lease_until,
    crashes: row.crashes,
    threadPosition: row.position,
    mayStart: row.is_new === 0 || (row.queued === 0 && row.ready <= now),
  };
}

/** A lease that went with a commit or release is not brought back: it would hide the run from the next claim. */
const moveLease = `UPDATE runs SET lease_until = ?1 WHERE scope = ?2 AND id = ?3 AND epoch = ?4 AND lease_until IS NOT NULL
  RETURNING (SELECT seq + n - 1 FROM journal
    WHERE thread = runs.thread AND run = runs.no ORDER BY seq DESC LIMIT 1) AS head`;

export function renewJob({ db, now }: Access, renewal: Renewal): Job<RenewAnswer> {
  const renew = (): RenewAnswer => {
    const leaseUntil = now() + renewal.leaseMs;
    const row = db.get<{ head: number }>(moveLease, leaseUntil, renewal.scope, renewal.run, renewal.epoch);
    return row ? { kind: "renewed", leaseUntil, head: row.head } : { kind: "fenced" };
  };
  return { bytes: 0, alone: renew, write: renew };
}

export function nextDue(db: Connection, { scope, agents }: Pick<ClaimRequest, "scope" | "agents">): number | undefined {
  const due = agents.flatMap((agent) =>
    priorities.flatMap((priority) => db.get<{ due: number }>(findNextDue, scope, agent, priority)?.due ?? []),
  );
  return due.length === 0 ? undefined : Math.min(...due);
}

export function dueScopes(db: Connection, { agents, after, limit }: DueScopesRequest): DueScopes {
  const looked = db.all<{ scope: Scope }>(findScopes, after ?? "", limit + 1).map(({ scope }) => scope);
  const page = looked.slice(0, limit);
  const scopes = page.flatMap((scope) => {
    const due = nextDue(db, { scope, agents });
    return due === undefined ? [] : [{ scope, due }];
  });
  const last = page.at(-1);
  return { scopes, ...(last === undefined || looked.length <= limit ? {} : { next: last }) };
}
