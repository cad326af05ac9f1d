/** Dispatcher: wakes runs on workers. Correctness never rests on it; every write is fenced by the store. */
import type { Claim } from "./store.ts";

/** A claim while a worker holds it. */
export interface HeldClaim {
  readonly claim: Claim;
  /** Moves with every renewal; store time, to be compared with store time only. */
  leaseUntil(): number;
  /** How long the lease surely lasts, counted by this process from before it asked. */
  timeLeft(): number;
  /** Store time, as far as this process can be sure that it has come. */
  storeNow(): number;
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  /** Aborts when the process wants to go: begin nothing new, give the run back as soon as nothing is in flight. */
  readonly leaving: AbortSignal;
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
