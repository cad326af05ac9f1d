/** What a test tells its worker processes, and what they write down. */
import type { ToolName } from "./clerk.ts";

export interface Place {
  readonly folder: string;
  readonly world: string;
  readonly store: { readonly path: string } | { readonly url: string; readonly schema: string };
}

export interface WorkerSettings {
  readonly leaseMs: number;
  readonly pollMs?: number;
  readonly concurrency?: number;
  readonly closeGraceMs?: number;
  /** Of every tool. */
  readonly timeoutMs?: number;
  readonly tools?: readonly ToolName[];
  /** What becomes of the process that is the first to get there, and of no other. */
  readonly ordeal?: Ordeal;
}

export interface Ordeal {
  readonly kind: "freeze" | "block" | "die";
  /** after-intent: of a tool · in-tool: it has begun · before-settlement: it is done, and not written down yet. */
  readonly at: "after-intent" | "in-tool" | "before-settlement";
  /** block: how long. */
  readonly ms?: number;
  /** Only at calls with this tag, and then of every process, every time. */
  readonly tag?: string;
}

export type WorkerNews = { readonly kind: "said"; readonly message: string };

/** What a worker asked that only the holder of a run may ask; or what has become of it. */
export interface StoreCall {
  readonly method: string;
  readonly run?: string;
  readonly epoch?: number;
  readonly answer?: string;
  /** It was asked after the ordeal. */
  readonly isLate?: boolean;
}

export interface Orders extends Place, WorkerSettings {
  readonly calls: string;
}

/** What a worker holds that has found nothing to do. */
export interface RestNews {
  /** Since the process was started. */
  readonly readyMs: number;
  readonly statements: number;
  /** Read, where the store's probe counts them. */
  readonly rows: number;
  readonly looks: number;
  /** What keeps its event loop alive, by name. */
  readonly resources: readonly string[];
  readonly heapBytes: number;
}
