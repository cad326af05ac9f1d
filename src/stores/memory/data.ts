/** The records that a memory store is made of. All of a scope hangs under its scope, so no lookup can leave it (S11). */

import type { DeclaredManifest } from "../../domain/declared-manifest.ts";
import type { Entry, EntryBody } from "../../domain/entry.ts";
import type { Fingerprint, InputId, RunId, Scope, ThreadId, TicketId } from "../../domain/ids.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { StateSlot } from "../../domain/row-changes.ts";
import type { RunStatus } from "../../domain/run.ts";
import type { SettlementRecord, TicketRecord } from "../../domain/ticket.ts";
import type { StoredContent } from "../../ports/content-store.ts";
import type { Delivery } from "../../ports/outbox-store.ts";
import type { EvidenceRow, PostAnswer, Snapshot } from "../../ports/store.ts";
import type { InboxInput } from "../shared/post-guard.ts";
import { stampEntries } from "../shared/stamp-entries.ts";

export interface MemoryCommit {
  readonly position: number;
  readonly run: MemoryRun;
  readonly entries: readonly Entry[];
  /** Thread position before it; undefined for births and the outside door, which bring no messages. */
  readonly before: number | undefined;
}

export interface MemoryThread {
  readonly no: number;
  readonly id: ThreadId;
  readonly createdAt: number;
  updatedAt: number;
  title: string | undefined;
  metadata: JsonObject;
  parent: MemoryThread | undefined;
  /** By creation, like every list of threads or runs here. */
  readonly children: MemoryThread[];
  readonly runs: MemoryRun[];
  /** Messages that were ever appended by runs which have ended; erasing takes none back. */
  position: number;
  /** How many of them were erased. */
  erased: number;
  active: MemoryRun | undefined;
  /** The next one first. */
  readonly queue: MemoryRun[];
  /** By start position, oldest first. */
  readonly started: MemoryRun[];
  /** By key. */
  readonly state: Map<string, StateSlot>;
}

export interface MemoryRun {
  readonly no: number;
  readonly id: RunId;
  readonly thread: MemoryThread;
  readonly agent: string;
  readonly parent: RunId | undefined;
  readonly fingerprint: Fingerprint;
  readonly createdAt: number;
  readonly priority: number;
  readonly commits: MemoryCommit[];
  readonly posts: Map<string, PostAnswer>;
  readonly inputs: Map<InputId, InboxInput>;
  readonly evidence: EvidenceRow[];
  /** Hashes of content. */
  readonly cites: Set<string>;
  /** Its own and those of posts that stood for a start. */
  readonly startKeys: string[];
  status: RunStatus;
  /** Since when it may start, as soon as it has its thread. */
  ready: number;
  queued: boolean;
  epoch: number;
  head: number;
  crashes: number;
  unread: number;
  leaseUntil: number | undefined;
  wake: number | undefined;
  claimId: string | undefined;
  startPosition: number | undefined;
  /** Thread position after its last commit. */
  placed: number;
  cancelSeq: number | undefined;
  snapshot: Snapshot | undefined;
  endedAt: number | undefined;
}

export interface MemoryTicket {
  readonly ticket: TicketRecord;
  settlement: SettlementRecord | undefined;
}

export interface MemoryDelivery {
  readonly run: MemoryRun;
  readonly seq: number;
  readonly index: number;
  readonly delivery: Delivery;
  due: number;
  attempts: number;
  error: string | undefined;
}

export interface MemoryContent {
  readonly stored: StoredContent;
  at: number;
}

export interface ScopeData {
  readonly runs: Map<RunId, MemoryRun>;
  readonly runList: MemoryRun[];
  readonly threads: Map<ThreadId, MemoryThread>;
  readonly threadList: MemoryThread[];
  /** Threads without a parent. */
  readonly roots: MemoryThread[];
  readonly starts: Map<string, { readonly run: RunId; readonly requestHash: string }>;
  readonly manifests: Map<Fingerprint, DeclaredManifest>;
  /** In the order they were opened. */
  readonly tickets: Map<TicketId, MemoryTicket>;
  readonly openTickets: Set<MemoryTicket>;
  /** Runs with a time at which they may be claimed; kept by `reschedule`. */
  readonly claimable: Set<MemoryRun>;
  /** In the order they were written. */
  readonly outbox: Set<MemoryDelivery>;
  readonly content: Map<string, MemoryContent>;
  journal: MemoryCommit[];
  /** The newest position that an erasure took away. */
  erasedUpTo: number;
  /** Shared by all scopes: numbers rise over the whole store. */
  readonly counters: Counters;
}

/** They never go back: what an erasure takes away is not given out again (H3). */
export interface Counters {
  threads: number;
  runs: number;
  commits: number;
}

export interface MemoryData {
  readonly scopes: Map<Scope, ScopeData>;
  readonly counters: Counters;
  /** By name, with what they announced and until when. */
  readonly workers: Map<string, AnnouncedWorker>;
}

export interface AnnouncedWorker {
  readonly agents: readonly string[];
  readonly scopes: readonly string[];
  readonly until: number;
}

export function createMemoryData(): MemoryData {
  return { scopes: new Map(), counters: { threads: 0, runs: 0, commits: 0 }, workers: new Map() };
}

export function scopeOf(data: MemoryData, scope: Scope): ScopeData {
  const known = data.scopes.get(scope);
  if (known) return known;
  const fresh: ScopeData = {
    runs: new Map(),
    runList: [],
    threads: new Map(),
    threadList: [],
    roots: [],
    starts: new Map(),
    manifests: new Map(),
    tickets: new Map(),
    openTickets: new Set(),
    claimable: new Set(),
    outbox: new Set(),
    content: new Map(),
    journal: [],
    erasedUpTo: 0,
    counters: data.counters,
  };
  data.scopes.set(scope, fresh);
  return fresh;
}

export interface Appended {
  readonly bodies: readonly EntryBody[];
  readonly at: number;
  readonly epoch: number | null;
  /** Thread position before it, where it may bring messages. */
  readonly before?: number;
}

/** The only place that adds to a journal. Answers the seq of the first entry. */
export function append(scope: ScopeData, run: MemoryRun, added: Appended): number {
  const seq = run.head + 1;
  const entries = stampEntries(added.bodies, { seq, at: added.at, epoch: added.epoch });
  scope.counters.commits += 1;
  const commit: MemoryCommit = { position: scope.counters.commits, run, entries, before: added.before };
  run.head += entries.length;
  run.commits.push(commit);
  scope.journal.push(commit);
  return seq;
}

/** When the run may be claimed; undefined while it may not. The SQLite column `due` says the same. */
export function dueOf(run: MemoryRun): number | undefined {
  const free = run.leaseUntil ?? 0;
  if (run.status === "done") return undefined;
  if (!run.queued && run.status === "running") return free;
  if (!run.queued && run.status === "created") return Math.max(free, Math.min(run.ready, run.wake ?? run.ready));
  return run.wake === undefined ? undefined : Math.max(free, run.wake);
}

/** Called after every change of status, queue place, lease or wake. */
export function reschedule(scope: ScopeData, run: MemoryRun): void {
  if (dueOf(run) === undefined) scope.claimable.delete(run);
  else scope.claimable.add(run);
}
