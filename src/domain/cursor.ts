/** Cursor: a watcher's place. Opaque to users, bound to what was watched: a foreign or damaged one is refused. */
import { HoldfastError } from "./errors.ts";

/** Where a stream stands: in a run by seq, across runs by the store's position and the seq inside that commit. */
export interface Place {
  readonly position: number;
  readonly seq: number;
}

const pattern = /^(\d{1,16})\.(\d{1,16})\.([0-9a-f]{16})$/;

/** Short hash of scope and subject: two streams never share one. */
export function streamTag(sha256: (text: string) => string, subject: readonly string[]): string {
  return sha256(JSON.stringify(subject)).slice(0, 16);
}

export function writeCursor(place: Place, tag: string): string {
  return `${place.position}.${place.seq}.${tag}`;
}

export function readCursor(cursor: unknown, tag: string): Place {
  const match = typeof cursor === "string" ? pattern.exec(cursor) : null;
  if (match?.[3] === tag) return { position: Number(match[1]), seq: Number(match[2]) };
  throw new HoldfastError("invalid-cursor", "The cursor is damaged, or of another run, filter or scope");
}
