/** Time, in milliseconds. Every timeout in the house is `sleep`, so a test or a simulator can own all of them. */
export interface Clock {
  now(): number;
  /** For durations: not moved by whoever sets the clock. Only differences mean anything. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
