/**
 * The part of the store that is about threads and lists of runs.
 *
 * H1 A thread's messages are those of its runs by start position; imported history is the journal of an ended run.
 * H2 List pages are ordered by creation and stable under concurrent inserts; a page costs its length, not the table's.
 * H3 Deleting or erasing is whole and one transaction: entries, tickets, inbox, posts, snapshots, evidence, deliveries, start
 *    keys, and with a thread its state. Nothing that is not done is ever erased; numbers and positions are never used again.
 * H4 A parent exists in the same scope and is no descendant of its child.
 * H5 Pruning erases whole runs that have ended long enough ago, the oldest first, a bounded number in one transaction; never
 *    one that is not done, nor one that has caused a delivery which nobody has got yet. Several may do it at once.
 * H6 A thread's state is, for each key, the last `state-changed` of scope "thread" that was committed on it, written with its
 *    commit or not at all. Only the thread's active run writes it: from a queued run it is an illegal transition. It stays
 *    when the run that wrote it is erased, and goes with its thread.
 */
import type { RunId, Scope, ThreadId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Message } from "../domain/message.ts";
import type { StateSlot } from "../domain/row-changes.ts";
import type { RunStatus } from "../domain/run.ts";

export interface ThreadKey {
  readonly scope: Scope;
  readonly thread: ThreadId;
}

export interface ThreadRow extends ThreadKey {
  /** Creation order; what list pages are cut by. */
  readonly no: number;
  readonly title?: string;
  readonly metadata: JsonObject;
  readonly parent?: ThreadId;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Messages of ended runs and of the active one up to its last commit. */
  readonly messages: number;
  /** The run that holds the thread: created, running or waiting. */
  readonly current?: { readonly run: RunId; readonly status: RunStatus };
  readonly latest?: RunId;
  readonly queued: number;
}

export interface ThreadChange extends ThreadKey {
  readonly title?: string | null;
  readonly metadata?: JsonObject;
}

export interface ThreadList {
  readonly scope: Scope;
  /** null: only threads without a parent. */
  readonly parent?: ThreadId | null;
  readonly order: "newest" | "oldest";
  /** Rows after this `no` in the order asked for. */
  readonly after?: number;
  readonly limit: number;
}

export interface MessageList extends ThreadKey {
  readonly order: "newest" | "oldest";
  /** Messages after this 1-based position in the order asked for. */
  readonly after?: number;
  readonly visibility?: "all";
  readonly limit: number;
}

export interface PlacedMessage {
  /** 1-based place in the thread, in the order of appending. */
  readonly position: number;
  readonly run: RunId;
  readonly message: Message;
}

export interface DeleteThread extends ThreadKey {
  /** What happens to child threads. */
  readonly children: "reject" | "detach" | "cascade";
}

export type DeleteAnswer =
  | { readonly kind: "deleted"; readonly threads: number; readonly runs: number }
  | { readonly kind: "not-found" }
  | { readonly kind: "busy"; readonly run: RunId }
  | { readonly kind: "has-children"; readonly children: number };

export interface PruneRuns {
  readonly scope: Scope;
  /** A time of the store, or how long ago by the store's own clock. */
  readonly ended: { readonly before: number } | { readonly agoMs: number };
  readonly limit: number;
}

export interface RunFilter {
  readonly scope: Scope;
  readonly thread?: ThreadId;
  /** Runs that this one has started through its delegates. */
  readonly parent?: RunId;
  readonly agent?: string;
  readonly status?: RunStatus;
}

export interface RunList extends RunFilter {
  readonly order: "newest" | "oldest";
  readonly after?: number;
  readonly limit: number;
}

export interface ListedRun {
  /** Creation order; what list pages are cut by. */
  readonly no: number;
  readonly run: RunId;
  readonly thread: ThreadId;
  readonly agent: string;
  readonly status: RunStatus;
  readonly queued: boolean;
  readonly head: number;
  readonly createdAt: number;
  /** The run that has started it through a delegate. */
  readonly parent?: RunId;
}

export interface ThreadStore {
  thread(key: ThreadKey): Promise<ThreadRow | undefined>;
  threads(list: ThreadList): Promise<readonly ThreadRow[]>;
  /** False when there is no such thread. */
  changeThread(change: ThreadChange): Promise<boolean>;
  messages(list: MessageList): Promise<readonly PlacedMessage[]>;
  /** Sorted by key; empty for a thread without state and for one that is not there. */
  threadState(key: ThreadKey): Promise<readonly StateSlot[]>;
  deleteThread(what: DeleteThread): Promise<DeleteAnswer>;
  /** One run and everything of it; only when it is done and told (O5). Its messages leave the thread. */
  eraseRun(key: { readonly scope: Scope; readonly run: RunId }): Promise<DeleteAnswer>;
  /** The runs that it has erased. */
  prune(what: PruneRuns): Promise<readonly RunId[]>;
  runs(list: RunList): Promise<readonly ListedRun[]>;
  countRuns(filter: RunFilter): Promise<number>;
  /** The newest position of the whole store up to which readers of many runs are shown everything. */
  head(): Promise<number>;
  /** Another text whenever anything was committed by anyone since, also what readers of many runs are not shown yet. */
  pulse(): Promise<string>;
  /** The newest position that an erasure in this scope has taken away, 0 for none: cursors before it get `resync`. */
  erasedUpTo(scope: Scope): Promise<number>;
}
