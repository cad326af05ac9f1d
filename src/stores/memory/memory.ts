/**
 * The memory store: the same promises as a file, for as long as the process lives. `memory()` makes the data once,
 * and every `open` works on it, so that a runtime can be "restarted" in a test.
 *
 * M1 No write awaits: each method runs to its end before another can begin, which is what makes it a transaction.
 * M2 Records are handed out as they are stored; they are readonly to everyone else.
 */
import type { Scope } from "../../domain/ids.ts";
import type { EvidenceRow, RunKey, Snapshot, Store, StoreDefinition, StoreDeps } from "../../ports/store.ts";
import { createCommitTally } from "../shared/commit-tally.ts";
import { noSuchRun, storeClosed } from "../shared/refusals.ts";
import { create, createThread } from "./births.ts";
import { claim, dueScopes, nextDue, renew } from "./claims.ts";
import { collectContent, putContent, readContent } from "./content.ts";
import { createMemoryData, type MemoryData, type ScopeData, scopeOf } from "./data.ts";
import { deleteThread, eraseRun, prune } from "./erasure.ts";
import { dueNow } from "./figures.ts";
import { changeThread, countRuns, runs, threadRow, threadState, threads } from "./lists.ts";
import { messages, readThread } from "./messages.ts";
import { deliveries, deliveryScopes, endDelivery, nextDelivery, reviveDeliveries, takeDeliveries } from "./outbox.ts";
import { post } from "./post.ts";
import { readAll, runRow, tickets } from "./reads.ts";
import { announce, unserved } from "./workers.ts";
import { commit, entriesAfter, release } from "./writes.ts";

export function memory(): StoreDefinition {
  const data = createMemoryData();
  return { name: "memory", open: async (deps) => createMemoryStore(data, deps) };
}

function createMemoryStore(data: MemoryData, { clock }: StoreDeps): Store {
  const tally = createCommitTally();
  let closed = false;
  async function within<T>(scope: Scope, act: (scope: ScopeData, now: number) => T): Promise<T> {
    if (closed) throw storeClosed();
    return act(scopeOf(data, scope), clock.now());
  }
  async function overall<T>(look: () => T): Promise<T> {
    if (closed) throw storeClosed();
    return look();
  }
  return {
    create: (birth) => within(birth.entry.identity.scope, (scope, now) => create(scope, birth, now)),
    createThread: (wanted) => within(wanted.scope, (scope, now) => createThread(scope, wanted, now)),
    commit: (wanted) =>
      within(wanted.scope, (scope, now) => {
        const answer = commit(scope, wanted, now);
        tally.add([{ isCommit: true }], [answer]);
        return answer;
      }),
    release: (wanted) => within(wanted.scope, (scope, now) => release(scope, wanted, now)),
    post: (wanted) => within(wanted.scope, (scope, now) => post(scope, wanted, now)),
    claim: (request) => within(request.scope, (scope, now) => claim(scope, request, now)),
    renew: (renewal) => within(renewal.scope, (scope, now) => renew(scope, renewal, now)),
    nextDue: (request) => within(request.scope, (scope) => nextDue(scope, request.agents)),
    dueScopes: (request) => overall(() => dueScopes(data, request)),
    announce: (announcement) => overall(() => announce(data, announcement, clock.now())),
    unserved: (request) => within(request.scope, (scope, now) => unserved(data, scope, { ...request, now })),
    run: (key) => within(key.scope, (scope) => runRow(scope, key)),
    readRun: (request) =>
      within(request.scope, (scope) => {
        const run = scope.runs.get(request.run);
        return run ? entriesAfter(run, request.after, request.limit) : [];
      }),
    readAll: (request) => within(request.scope, (scope) => readAll(scope, request)),
    readThread: (request) => within(request.scope, (scope) => readThread(scope, request)),
    thread: (key) => within(key.scope, (scope) => threadRow(scope, key)),
    threads: (list) => within(list.scope, (scope) => threads(scope, list)),
    changeThread: (change) => within(change.scope, (scope, now) => changeThread(scope, change, now)),
    messages: (list) => within(list.scope, (scope) => messages(scope, list)),
    threadState: (key) => within(key.scope, (scope) => threadState(scope, key)),
    deleteThread: (what) => within(what.scope, (scope) => deleteThread(scope, what)),
    eraseRun: (key) => within(key.scope, (scope) => eraseRun(scope, key)),
    prune: (what) => within(what.scope, (scope, now) => prune(scope, what, now)),
    runs: (list) => within(list.scope, (scope) => runs(scope, list)),
    countRuns: (filter) => within(filter.scope, (scope) => countRuns(scope, filter)),
    head: () => overall(() => data.counters.commits),
    pulse: () => overall(() => String(data.counters.commits)),
    erasedUpTo: (name) => within(name, (scope) => scope.erasedUpTo),
    tickets: (filter) => within(filter.scope, (scope) => tickets(scope, filter)),
    manifest: (name, fingerprint) => within(name, (scope) => scope.manifests.get(fingerprint)),
    saveSnapshot: (key, snapshot) => within(key.scope, (scope) => saveSnapshot(scope, key, snapshot)),
    snapshot: (key) => within(key.scope, (scope) => scope.runs.get(key.run)?.snapshot),
    addEvidence: ({ scope: name, run, kind, body }) =>
      within(name, (scope, at) => addEvidence(scope, { scope: name, run }, { kind, at, body })),
    evidence: (key) => within(key.scope, (scope) => [...(scope.runs.get(key.run)?.evidence ?? [])]),
    takeDeliveries: (request) => within(request.scope, (scope, now) => takeDeliveries(scope, request, now)),
    endDelivery: (end) => within(end.scope, (scope, now) => endDelivery(scope, end, now)),
    nextDelivery: (lane) => within(lane.scope, (scope) => nextDelivery(scope, lane)),
    reviveDeliveries: (request) => within(request.scope, (scope, now) => reviveDeliveries(scope, request, now)),
    deliveryScopes: (request) => overall(() => deliveryScopes(data, request)),
    deliveries: (source) => within(source.scope, (scope) => deliveries(scope, source)),
    putContent: (given) => within(given.scope, (scope, now) => putContent(scope, given, now)),
    content: (key) => within(key.scope, (scope) => readContent(scope, key.hash)),
    collectContent: (what) => within(what.scope, (scope, now) => collectContent(scope, what, now)),
    figures: (request) =>
      within(request.scope, (scope, now) => ({
        ...dueNow(scope, request, now),
        ...tally.figures(),
        ...{ hidden: 0, hiddenMs: 0 },
      })),
    close: async () => {
      closed = true;
    },
  };
}

function saveSnapshot(scope: ScopeData, key: RunKey, snapshot: Snapshot): void {
  const run = scope.runs.get(key.run);
  if (run && snapshot.seq >= (run.snapshot?.seq ?? 0)) run.snapshot = snapshot;
}

function addEvidence(scope: ScopeData, key: RunKey, row: EvidenceRow): void {
  const run = scope.runs.get(key.run);
  if (!run) throw noSuchRun(key);
  run.evidence.push(row);
}
