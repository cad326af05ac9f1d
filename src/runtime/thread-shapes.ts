/** Threads, as a user of the runtime holds them. */
import type { RunId, ThreadId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import type { PlacedMessage } from "../ports/thread-store.ts";
import type { NewMessage } from "./new-message.ts";
import type { Page, PageOptions } from "./pages.ts";
import type { StateSnapshot } from "./state.ts";

export interface CreateThread {
  readonly id?: string;
  readonly title?: string;
  readonly metadata?: JsonObject;
  readonly parent?: string;
  /** Imported history, oldest first. */
  readonly messages?: readonly NewMessage[];
}

export interface Thread {
  readonly id: ThreadId;
  readonly title?: string;
  readonly metadata: JsonObject;
  readonly parent?: ThreadId;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly messages: number;
  /** The run that executes now. */
  readonly activeRun?: RunId;
  /** The run that holds the thread: created, running or waiting. */
  readonly openRun?: RunId;
  readonly latestRun?: RunId;
  readonly queued: number;
}

export interface Threads {
  create(options?: CreateThread): Promise<Thread>;
  get(id: string): Promise<Thread | undefined>;
  list(options?: PageOptions & { readonly parent?: string | null }): Promise<Page<Thread>>;
  messages(id: string, options?: PageOptions & { readonly visibility?: "all" }): Promise<Page<PlacedMessage>>;
  /** What its runs have written of thread-scoped state keys. */
  state(id: string): Promise<StateSnapshot>;
  change(id: string, change: { readonly title?: string | null; readonly metadata?: JsonObject }): Promise<Thread>;
  /** Refused while a run of it is not done. Child threads: refuse (default), let go, or delete too. */
  delete(
    id: string,
    options?: { readonly children?: "reject" | "detach" | "cascade" },
  ): Promise<{ threads: number; runs: number }>;
}
