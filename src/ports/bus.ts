import type { Entry } from "../domain/entry.ts";
import type { RunId, Scope } from "../domain/ids.ts";

/** "Run moved to seq": a hint, after the commit. Watchers trust the journal; a lost or doubled hint loses nothing. */
export interface Hint {
  readonly scope: Scope;
  readonly run: RunId;
  readonly seq: number;
  /** The entries themselves where they are at hand (same process): listeners need not read them again. */
  readonly entries?: readonly Entry[];
}

export interface Bus {
  /** Best effort. Must not throw for a failing listener. */
  publish(hint: Hint): Promise<void>;
  /** Returns the way to stop listening. */
  subscribe(listener: (hint: Hint) => void): () => void;
  close(): Promise<void>;
}
