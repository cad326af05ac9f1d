/** The engine's own limits: times in milliseconds, counts, and bytes. */

export interface EngineLimits {
  /** A model call without an end is given up after this. */
  readonly modelTimeoutMs: number;
  /** A model call that gives no sign of life for so long is given up. */
  readonly modelIdleMs: number;
  readonly modelAttempts: number;
  /** Attempts of one tool call that plugins may ask for. */
  readonly callAttempts: number;
  /** All hooks of a phase together, a check of a call (schema, approval rule), or an answer of the resolver: what takes longer has failed. */
  readonly phaseTimeoutMs: number;
  /** How long aborted effects may take to settle before the run ends without them. */
  readonly graceMs: number;
  /** A pause longer than this gives the lease back. */
  readonly parkAfterMs: number;
  /** Claims in a row that got nowhere before the run is set aside. */
  readonly crashes: number;
  /** Newest messages of the thread that a model call sees. */
  readonly window: number;
  /** Entries between snapshots. */
  readonly snapshotEvery: number;
  /** Bytes of JSON up to which a tool's result is in the journal; larger ones are content. */
  readonly inlineBytes: number;
  /** The most bytes that a result may have at all. */
  readonly contentBytes: number;
  /** How much of a result that is content the model reads. */
  readonly previewBytes: number;
  /** How long a run may be claimable while no worker has its agent before it says so in a ticket, and how often one asks again. */
  readonly unservedMs: number;
}

export const defaultLimits: EngineLimits = {
  modelTimeoutMs: 300_000,
  modelIdleMs: 120_000,
  modelAttempts: 5,
  callAttempts: 16,
  phaseTimeoutMs: 30_000,
  graceMs: 5_000,
  parkAfterMs: 2_000,
  crashes: 4,
  window: 200,
  snapshotEvery: 256,
  inlineBytes: 128 * 1024,
  contentBytes: 16 * 1024 * 1024,
  previewBytes: 4 * 1024,
  unservedMs: 60_000,
};
