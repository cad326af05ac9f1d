/** Leases of the memory store (S7): a claim is refused by the lease's time, a write only by the epoch. */
import {
  type Claim,
  type ClaimRequest,
  type DueScopes,
  type DueScopesRequest,
  type RenewAnswer,
  type Renewal,
  suspectAfter,
} from "../../ports/store.ts";
import { dueOf, type MemoryData, type MemoryRun, reschedule, type ScopeData } from "./data.ts";

export function claim(scope: ScopeData, request: ClaimRequest, now: number): readonly Claim[] {
  const before = request.again ? claimedBefore(scope, request.claimId) : [];
  const runs = before.length > 0 ? before : take(scope, request, now);
  return runs.map((run) => claimOf(run, request, now));
}

function claimedBefore(scope: ScopeData, claimId: string): readonly MemoryRun[] {
  const held = [...scope.claimable].filter((run) => run.claimId === claimId && run.leaseUntil !== undefined);
  return held.sort((a, b) => a.no - b.no);
}

function take(scope: ScopeData, request: ClaimRequest, now: number): readonly MemoryRun[] {
  const due = [...scope.claimable].filter(
    (run) => isDue(run, Math.min(now, request.dueBy ?? now)) && request.agents.includes(run.agent),
  );
  let { trials = due.length } = request;
  const may = due.sort(byTurn).filter(({ crashes }) => {
    if (crashes < suspectAfter) return true;
    trials -= 1;
    return trials >= 0;
  });
  const runs = may.slice(0, Math.max(0, request.limit));
  for (const run of runs) {
    run.epoch += 1;
    run.crashes += 1;
    run.leaseUntil = now + request.leaseMs;
    run.claimId = request.claimId;
    reschedule(scope, run);
  }
  return runs;
}

function isDue(run: MemoryRun, now: number): boolean {
  const due = dueOf(run);
  return due !== undefined && due <= now;
}

/** S13. */
function byTurn(a: MemoryRun, b: MemoryRun): number {
  return b.priority - a.priority || (dueOf(a) ?? 0) - (dueOf(b) ?? 0) || a.no - b.no;
}

function claimOf(run: MemoryRun, { scope }: ClaimRequest, now: number): Claim {
  return {
    scope,
    run: run.id,
    thread: run.thread.id,
    agent: run.agent,
    epoch: run.epoch,
    leaseUntil: run.leaseUntil ?? 0,
    crashes: run.crashes,
    threadPosition: run.thread.position,
    mayStart: run.status !== "created" || (!run.queued && run.ready <= now),
  };
}

/** A lease that went with a commit or release is not brought back: it would hide the run from the next claim. */
export function renew(scope: ScopeData, renewal: Renewal, now: number): RenewAnswer {
  const run = scope.runs.get(renewal.run);
  if (!run || run.epoch !== renewal.epoch || run.leaseUntil === undefined) return { kind: "fenced" };
  run.leaseUntil = now + renewal.leaseMs;
  return { kind: "renewed", leaseUntil: run.leaseUntil, head: run.head };
}

export function nextDue(scope: ScopeData, agents: readonly string[]): number | undefined {
  let next: number | undefined;
  for (const run of scope.claimable) {
    const due = agents.includes(run.agent) ? dueOf(run) : undefined;
    if (due !== undefined && (next === undefined || due < next)) next = due;
  }
  return next;
}

export function dueScopes({ scopes }: MemoryData, request: DueScopesRequest): DueScopes {
  const { agents, after = "", limit } = request;
  const names = [...scopes.keys()].filter((name) => name > after && (scopes.get(name)?.claimable.size ?? 0) > 0).sort();
  const looked = names.slice(0, limit);
  const due = looked.flatMap((scope) => {
    const data = scopes.get(scope);
    const first = data && nextDue(data, agents);
    return first === undefined ? [] : [{ scope, due: first }];
  });
  const last = looked.at(-1);
  return { scopes: due, ...(last === undefined || names.length <= limit ? {} : { next: last }) };
}
