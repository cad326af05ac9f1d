import type { Entry, EntryBody, EntryStamp } from "../../domain/entry.ts";

/** Entries as they are read: the stamp of the commit, the seq of the place. */
export function stampEntries(bodies: readonly EntryBody[], first: EntryStamp): readonly Entry[] {
  return bodies.map((body, index) => ({ ...body, seq: first.seq + index, at: first.at, epoch: first.epoch }));
}
