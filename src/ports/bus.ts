import type { RunId, Scope } from "../domain/ids.ts";

/** "Run moved to seq": a hint, after the commit. Watchers trust the journal; a lost or doubled hint loses nothing. */
export interface Hint {
  readonly scope: Scope;
  readonly run: RunId;
  readonly seq: number;
}

export interface Bus {
  /** Best effort. Must not throw for a failing listener. */
  publish(hint: Hint): Promise<void>;
  /** Returns the way to stop listening. */
  subscribe(listener: (hint: Hint) => void): () => void;
  close(): Promise<void>;
}
