/** Dispatcher: wakes runs on workers. Correctness never rests on it; every write is fenced by the store. */
import type { Claim } from "./store.ts";

/** A claim while a worker holds it. */
export interface HeldClaim {
  readonly claim: Claim;
  /** Moves with every renewal; store time. */
  leaseUntil(): number;
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  /** The run's journal moved through the other door, at least to this seq. */
  onMoved(listener: (seq: number) => void): void;
}

export type Advance = (held: HeldClaim) => Promise<void>;

export interface Dispatcher {
  /** Begins to claim runs and hands each to `advance`. */
  serve(advance: Advance): void;
  /** Stops claiming and waits for what is in hand. */
  close(): Promise<void>;
}
