import type { MessagePartial, Told } from "../domain/delta.ts";
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
  /** Absent on a bus inside one process: there watchers hear the writers themselves. */
  readonly pieces?: Pieces;
  close(): Promise<void>;
}

/** Live pieces between processes: best effort, never the only copy (L6). None of these calls throws or waits. */
export interface Pieces {
  /** What is being written here, for whoever asks elsewhere. Nothing is taken from it while nobody does. */
  offer(writers: Writers): void;
  /** Asks all others; writers begin with all they have so far. Asking again makes them begin again. Returns the way to stop. */
  ask(wish: Wish): () => void;
  /** Pieces of one writer come in order. They may come twice or be lost. */
  hear(listener: (piece: FarPiece) => void): () => void;
}

/** Of one run, or of all. */
export interface Wish {
  readonly scope: Scope;
  readonly run?: RunId;
}

export interface FarPiece {
  readonly scope: Scope;
  readonly told: Told;
  /** Where the text of a message's piece begins in the whole text of its kind; 0 for everything else. */
  readonly at: number;
}

/** What is being written in this process. */
export interface Writers {
  partial(scope: Scope, run: RunId): MessagePartial | undefined;
  partials(scope: Scope): readonly MessagePartial[];
  subscribe(listener: (scope: Scope, told: Told) => void): () => void;
}
