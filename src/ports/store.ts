/**
 * Store: remembers. The promises below are what every implementation keeps and the conformance suite checks.
 *
 * S1 Entries are written by `create`, `commit` and `post` only, serialised per run, seq gapless from 1, given here.
 * S2 `commit` and `release` of another epoch than the run's change nothing and answer `fenced`; lease time is not the fence.
 * S3 `commit` and `release` below the head change nothing and answer `behind` with every entry after `expectedSeq`;
 *    above the head they throw journal-regressed.
 * S4 A commit's entries and every row they change (status, tickets, inbox, citations, thread and its state) are one transaction.
 * S5 `post` is guarded by its subject's own state in the same transaction; a ticket is decided at most once, ever.
 * S6 The same post key (per run), start key (per scope) or claim id gives the first answer again.
 * S7 A run is claimed by at most one live lease, only while it is its thread's active run and its start time has come; a
 *    run that may not start yet only to end it: it was asked to cancel, or its deadline has come. Each claim raises epoch
 *    and crash count by one. A claim leaves `wake`; only a commit or release at the head sets it. Of suspect runs it takes
 *    as many as it may, and they keep no other from being found.
 * S8 A commit that ends a run hands the thread on: to the successor that it brings, which is born in the same transaction,
 *    else to the next queued run.
 * S9 A refused member of a group commit fails no neighbour.
 * S10 A call whose outcome cannot be known throws commit-unknown; a read that fails throws, it never answers "none".
 * S11 Nothing of another scope is ever found or changed; only `dueScopes` says that there is something.
 * S12 A commit's `transaction` runs after the fence, alone in its group, and what it wrote and the entries it answers are
 *     written together or not at all. What it throws undoes everything and is thrown as apply-failed. It may run again
 *     when nothing of the first time was kept. A store without such transactions throws not-transactional.
 * S13 Claims go by priority, then by the time since which the run is due, then by birth. A created run is due since its
 *    birth, its start time or its promotion, whichever is last: a thread with a long queue gets one place in the line.
 * S14 A delegate's run is born only while the ticket that its parent waits on is open, in the same transaction: a birth that
 *    is carried again after its run was dropped, or after its parent has ended, changes nothing.
 */

import type { DeclaredManifest } from "../domain/declared-manifest.ts";
import type { Entry, EntryBody, OutsideFact } from "../domain/entry.ts";
import type { ErrorCode } from "../domain/errors.ts";
import type { CallId, Fingerprint, RunId, Scope, ThreadId, TicketId } from "../domain/ids.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import type { Message } from "../domain/message.ts";
import type { RunStatus } from "../domain/run.ts";
import type { SettlementRecord, TicketKind, TicketRecord } from "../domain/ticket.ts";
import type { TransactionKind } from "../domain/tool.ts";
import type { Birth } from "./birth.ts";
import type { Bus } from "./bus.ts";
import type { Clock } from "./clock.ts";
import type { ContentStore } from "./content-store.ts";
import type { Logger } from "./logger.ts";
import type { Delivery, OutboxStore } from "./outbox-store.ts";
import type { FiguresRequest, StoreFigures } from "./store-figures.ts";
import type { ThreadKey, ThreadStore } from "./thread-store.ts";
import type { WorkerStore } from "./worker-store.ts";

export interface RunKey {
  readonly scope: Scope;
  readonly run: RunId;
}

export interface BusyRun {
  readonly run: RunId;
  readonly status: RunStatus;
  readonly tickets: readonly TicketRecord[];
}

export type BirthAnswer =
  | { readonly kind: "created"; readonly queued: boolean }
  /** Same key, same request. */
  | { readonly kind: "existing"; readonly run: RunId }
  /** Same key, another request. */
  | { readonly kind: "conflict"; readonly run: RunId }
  /** Another run has this id. */
  | { readonly kind: "run-exists" }
  /** Nothing was written: it is a delegate's run, and its parent no longer waits for it (S14). */
  | { readonly kind: "unwanted" }
  /** Nothing was written: the rule says so. */
  | { readonly kind: "busy"; readonly active: BusyRun };

export interface NewThread extends ThreadKey {
  readonly title?: string;
  readonly metadata?: JsonObject;
  readonly parent?: ThreadId;
  /** Messages that exist already: an ended run, its birth and every entry after it. */
  readonly history?: { readonly birth: Birth; readonly rest: readonly EntryBody[] };
}

export type NewThreadAnswer =
  | { readonly kind: "created" }
  | { readonly kind: "exists" }
  | { readonly kind: "parent-not-found" }
  | { readonly kind: "cycle" };

export interface Commit extends RunKey {
  readonly epoch: number;
  /** The last seq folded; the entries get the ones after it. */
  readonly expectedSeq: number;
  readonly entries: readonly EntryBody[];
  /** Instead of entries: work in this transaction that answers them (S12). */
  readonly transaction?: Transact;
  /** How long the work may take; its caller gives up then, and a server should not go on with it for much longer. */
  readonly transactionMs?: number;
  /** Thread position before these entries. */
  readonly position: number;
  /** When a run that now waits must be looked at again; none = only when something is posted. */
  readonly wake?: number;
  /**
   * Only with the end of a run that holds its thread: the run that has the thread next, before the queued ones. A start
   * key that another run has stays with that run.
   */
  readonly successor?: Birth;
  /** Facts for others, written in the same transaction. */
  readonly deliveries?: readonly Delivery[];
}

/** Gets the store's own kind of transaction; whoever made it knows which. */
export type Transact = (tx: unknown) => readonly EntryBody[] | Promise<readonly EntryBody[]>;

export interface Release extends RunKey {
  readonly epoch: number;
  readonly expectedSeq: number;
  readonly wake?: number;
}

export type CommitAnswer =
  | { readonly kind: "committed"; readonly at: number }
  | { readonly kind: "fenced" }
  | { readonly kind: "behind"; readonly entries: readonly Entry[] };

export interface Post extends RunKey {
  readonly key: string;
  readonly fact: OutsideFact;
  /** Ticket decisions only: the hash that was shown. */
  readonly hash?: string;
  /** The post stands for a start: its key is recorded as that of this run, in the same transaction. */
  readonly start?: { readonly key: string; readonly requestHash: string };
}

export type PostAnswer =
  /** The start key was used before: for this run or another, with the same or another request. */
  | { readonly kind: "started"; readonly run: RunId; readonly same: boolean }
  | { readonly kind: "posted"; readonly seq: number; readonly at: number; readonly settlement?: SettlementRecord }
  /** Another answer settled the ticket, or a cancel was already asked for. */
  | { readonly kind: "settled"; readonly settlement: SettlementRecord }
  | { readonly kind: "already"; readonly seq: number }
  | { readonly kind: "refused"; readonly code: PostRefusal; readonly decidableFrom?: number };

export type PostRefusal = Extract<
  ErrorCode,
  | "run-not-found"
  | "run-ended"
  | "ticket-not-found"
  | "ticket-hash-mismatch"
  | "ticket-expired"
  | "ticket-not-decidable"
  | "answer-not-allowed"
  | "inbox-full"
  | "input-not-found"
  | "input-taken"
>;

/** Unread inputs that one run may hold. */
export const inboxLimit = 1_000;

/** So many claims in a row that got nowhere make a run suspect: it may be what kills its process. */
export const suspectAfter = 2;

export interface ClaimRequest {
  readonly scope: Scope;
  /** Only runs of these agents: a worker claims what it has the code for. */
  readonly agents: readonly string[];
  readonly leaseMs: number;
  readonly limit: number;
  readonly claimId: string;
  /** How many of them may be suspect; all unless said. */
  readonly trials?: number;
  /** Only what was due by then, as the asker saw the time: a clock that leaps while the claim is on its way changes nothing. */
  readonly dueBy?: number;
  /** The first call's outcome is unknown: answer what it claimed, if it did. */
  readonly again?: boolean;
}

export interface Claim extends RunKey {
  readonly thread: ThreadId;
  readonly agent: string;
  readonly epoch: number;
  readonly leaseUntil: number;
  /** Claims in a row, this one included, that got nowhere. */
  readonly crashes: number;
  /** Messages in the thread when its last run ended: where a run that has not started begins. */
  readonly threadPosition: number;
  /** False of a created run that was claimed only to end it. */
  readonly mayStart: boolean;
}

export interface DueScopesRequest {
  readonly agents: readonly string[];
  /** Scopes after this one, by name. */
  readonly after?: Scope;
  /** How many scopes are looked at. */
  readonly limit: number;
}

export interface DueScopes {
  /** Scopes in which some run of these agents is or will be claimable, and since or from when. */
  readonly scopes: readonly { readonly scope: Scope; readonly due: number }[];
  /** Where to go on; none after the last scope. */
  readonly next?: Scope;
}

export interface Renewal extends RunKey {
  readonly epoch: number;
  readonly leaseMs: number;
}

export type RenewAnswer =
  | { readonly kind: "renewed"; readonly leaseUntil: number; readonly head: number }
  | { readonly kind: "fenced" };

export interface RunRow extends RunKey {
  readonly thread: ThreadId;
  readonly agent: string;
  readonly status: RunStatus;
  readonly queued: boolean;
  readonly epoch: number;
  readonly head: number;
  readonly crashes: number;
  readonly leaseUntil?: number;
  readonly wake?: number;
  readonly startPosition?: number;
  readonly fingerprint: Fingerprint;
  readonly createdAt: number;
}

export interface TicketRow {
  readonly ticket: TicketRecord;
  readonly settlement?: SettlementRecord;
}

export interface TicketFilter {
  readonly scope: Scope;
  readonly status?: "open" | "decided";
  readonly id?: TicketId;
  readonly run?: RunId;
  readonly rootRun?: RunId;
  readonly thread?: ThreadId;
  readonly tool?: string;
  readonly call?: CallId;
  readonly kind?: TicketKind;
  /** Of any of these agents. */
  readonly agents?: readonly string[];
  readonly limit: number;
}

export interface ReadRun extends RunKey {
  readonly after: number;
  /** In commits, at least one is returned when there is one. */
  readonly limit: number;
}

export interface ReadAll {
  readonly scope: Scope;
  readonly after: number;
  readonly limit: number;
  readonly thread?: ThreadId;
  readonly agent?: string;
}

export interface CommittedRow extends RunKey {
  readonly thread: ThreadId;
  readonly agent: string;
  /** Global order of commits: never changes once read. */
  readonly position: number;
  readonly entries: readonly Entry[];
}

export interface ReadThread {
  readonly scope: Scope;
  readonly thread: ThreadId;
  readonly limit: number;
}

export interface Snapshot {
  readonly seq: number;
  readonly foldVersion: number;
  readonly state: string;
}

export interface Evidence extends RunKey {
  readonly kind: "late-result" | "late-decision" | "dead-delivery" | "delivery-revived";
  readonly body: JsonValue;
}

export interface EvidenceRow {
  readonly kind: Evidence["kind"];
  readonly at: number;
  readonly body: JsonValue;
}

export interface Store extends ThreadStore, OutboxStore, ContentStore, WorkerStore {
  create(birth: Birth): Promise<BirthAnswer>;
  createThread(thread: NewThread): Promise<NewThreadAnswer>;
  commit(commit: Commit): Promise<CommitAnswer>;
  release(release: Release): Promise<CommitAnswer>;
  post(post: Post): Promise<PostAnswer>;

  claim(request: ClaimRequest): Promise<readonly Claim[]>;
  renew(renewal: Renewal): Promise<RenewAnswer>;
  /** Store time at which some run of these agents is next claimable, if one is. */
  nextDue(request: Pick<ClaimRequest, "scope" | "agents">): Promise<number | undefined>;
  /** The same over all scopes, for workers that serve them all. */
  dueScopes(request: DueScopesRequest): Promise<DueScopes>;

  run(key: RunKey): Promise<RunRow | undefined>;
  /** Entries after a seq, whole commits, oldest first. */
  readRun(request: ReadRun): Promise<readonly Entry[]>;
  readAll(request: ReadAll): Promise<readonly CommittedRow[]>;
  /** The newest messages of a thread, oldest of them first, in the order they were appended. */
  readThread(request: ReadThread): Promise<readonly Message[]>;
  tickets(filter: TicketFilter): Promise<readonly TicketRow[]>;
  manifest(scope: Scope, fingerprint: Fingerprint): Promise<DeclaredManifest | undefined>;

  /** A deletable cache, outside the step's commit. An older one never replaces a newer one. */
  saveSnapshot(key: RunKey, snapshot: Snapshot): Promise<void>;
  snapshot(key: RunKey): Promise<Snapshot | undefined>;

  /** Facts learned after the end: append-only, no effect on the run. */
  addEvidence(evidence: Evidence): Promise<void>;
  evidence(key: RunKey): Promise<readonly EvidenceRow[]>;

  figures(request: FiguresRequest): Promise<StoreFigures>;
  /** Store time as far as this process can tell, where that is not the runtime's own clock. Never far ahead of it. */
  now?(): number;

  close(): Promise<void>;
}

export interface StoreDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A store that is described but not yet open: `sqlite("runs.db")`, `memory()`. */
export interface StoreDefinition {
  readonly name: string;
  /** The kind of transaction that its commits hand to transactional tools; none unless said. */
  readonly transactions?: TransactionKind;
  open(deps: StoreDeps): Promise<Store>;
  /** How the processes on this store tell each other; hints inside one process unless said. */
  bus?(deps: StoreDeps): Bus;
}
