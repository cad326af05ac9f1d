/** A run that joins its thread: its record, its place in the lists, its start key, its manifest and its first entry. */
import { contentIn } from "../../domain/cites.ts";
import type { Birth } from "../../ports/birth.ts";
import { firstDue } from "../shared/first-due.ts";
import { append, type MemoryRun, type MemoryThread, type ScopeData } from "./data.ts";
import { recordStart } from "./post.ts";

export function addRun(
  scope: ScopeData,
  birth: Birth,
  place: { readonly thread: MemoryThread; readonly now: number },
): MemoryRun {
  const { thread, now } = place;
  const { manifest } = birth.entry;
  const run = newRun(scope, birth, place);
  scope.runs.set(run.id, run);
  scope.runList.push(run);
  thread.runs.push(run);
  thread.updatedAt = now;
  if (!scope.starts.has(birth.key)) recordStart(scope, run, birth);
  if (!scope.manifests.has(manifest.fingerprint)) scope.manifests.set(manifest.fingerprint, birth.manifest);
  append(scope, run, { bodies: [birth.entry], at: now, epoch: null });
  return run;
}

function newRun(
  scope: ScopeData,
  birth: Birth,
  place: { readonly thread: MemoryThread; readonly now: number },
): MemoryRun {
  const { identity, manifest } = birth.entry;
  const { priority, ready, wake } = firstDue(birth, place.now);
  scope.counters.runs += 1;
  return {
    no: scope.counters.runs,
    id: identity.run,
    thread: place.thread,
    agent: identity.agent,
    parent: identity.parentRun,
    fingerprint: manifest.fingerprint,
    createdAt: place.now,
    priority,
    commits: [],
    posts: new Map(),
    inputs: new Map(),
    evidence: [],
    cites: new Set(contentIn([birth.entry])),
    startKeys: [],
    status: "created",
    ready,
    queued: false,
    epoch: 0,
    head: 0,
    crashes: 0,
    unread: 0,
    leaseUntil: undefined,
    wake,
    claimId: undefined,
    startPosition: undefined,
    placed: 0,
    cancelSeq: undefined,
    snapshot: undefined,
    endedAt: undefined,
  };
}
