/** Rows and pages of threads and runs. */
import type { Scope } from "../../domain/ids.ts";
import type { StateSlot } from "../../domain/row-changes.ts";
import type {
  ListedRun,
  RunFilter,
  RunList,
  ThreadChange,
  ThreadKey,
  ThreadList,
  ThreadRow,
} from "../../ports/thread-store.ts";
import type { MemoryRun, MemoryThread, ScopeData } from "./data.ts";
import { pageOf } from "./pages.ts";

export function threadRow(scope: ScopeData, key: ThreadKey): ThreadRow | undefined {
  const thread = scope.threads.get(key.thread);
  return thread && rowOf(thread, key.scope);
}

export function threads(scope: ScopeData, list: ThreadList): readonly ThreadRow[] {
  return pageOf(ownersOf(scope, list), list).map((thread) => rowOf(thread, list.scope));
}

function ownersOf(scope: ScopeData, { parent }: ThreadList): readonly MemoryThread[] {
  if (parent === undefined) return scope.threadList;
  return parent === null ? scope.roots : (scope.threads.get(parent)?.children ?? []);
}

function rowOf(thread: MemoryThread, scope: Scope): ThreadRow {
  const { no, id, title, metadata, parent, createdAt, updatedAt, active, queue } = thread;
  const latest = thread.runs.at(-1);
  return {
    scope,
    thread: id,
    no,
    ...(title === undefined ? {} : { title }),
    metadata,
    ...(parent === undefined ? {} : { parent: parent.id }),
    createdAt,
    updatedAt,
    messages: Math.max(thread.position, active?.placed ?? 0) - thread.erased,
    ...(active ? { current: { run: active.id, status: active.status } } : {}),
    ...(latest ? { latest: latest.id } : {}),
    queued: queue.length,
  };
}

export function changeThread(scope: ScopeData, change: ThreadChange, now: number): boolean {
  const thread = scope.threads.get(change.thread);
  if (!thread) return false;
  if (change.title !== undefined) thread.title = change.title ?? undefined;
  if (change.metadata !== undefined) thread.metadata = change.metadata;
  thread.updatedAt = now;
  return true;
}

export function threadState(scope: ScopeData, key: ThreadKey): readonly StateSlot[] {
  return [...(scope.threads.get(key.thread)?.state.values() ?? [])].sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** A page by thread walks that thread's runs; one by agent or status walks the scope's until it is full. */
export function runs(scope: ScopeData, list: RunList): readonly ListedRun[] {
  return pageOf(runsOf(scope, list), list, (run) => fits(run, list)).map(listed);
}

export function countRuns(scope: ScopeData, filter: RunFilter): number {
  return runsOf(scope, filter).filter((run) => fits(run, filter)).length;
}

function runsOf(scope: ScopeData, { thread }: RunFilter): readonly MemoryRun[] {
  return thread === undefined ? scope.runList : (scope.threads.get(thread)?.runs ?? []);
}

function fits(run: MemoryRun, { agent, status, parent }: RunFilter): boolean {
  if (parent !== undefined && run.parent !== parent) return false;
  return (agent ?? run.agent) === run.agent && (status ?? run.status) === run.status;
}

function listed({ no, id: run, thread, agent, status, queued, head, createdAt, parent }: MemoryRun): ListedRun {
  const above = parent === undefined ? {} : { parent };
  return { no, run, thread: thread.id, agent, status, queued, head, createdAt, ...above };
}
