/** One ring per watched run: opened by its first watcher, dropped with its last, fed with entries as they are told. */
import type { RunId } from "../domain/ids.ts";
import type { RunIdentity } from "../domain/run.ts";
import type { Hint } from "../ports/bus.ts";
import type { Desk } from "./desk.ts";
import type { Identities } from "./identities.ts";
import { placeEntry } from "./placed.ts";
import { createRing, type Ring } from "./ring.ts";
import type { RingItem } from "./watch.ts";

export interface JoinedRun {
  readonly identity: RunIdentity;
  readonly ring: Ring<RingItem>;
  leave(): void;
}

export interface RunRings {
  join(run: RunId): Promise<JoinedRun>;
  hear(hint: Hint): void;
  push(run: RunId, item: RingItem): void;
  /** Something was committed by someone: watchers of runs that moved are told to look. False: it could not be seen. */
  look(): Promise<boolean>;
  isEmpty(): boolean;
}

interface Watched {
  readonly identity: RunIdentity;
  readonly ring: Ring<RingItem>;
  watchers: number;
  /** The highest seq that went into the ring. */
  seen: number;
}

export function createRunRings(desk: Desk, identities: Identities): RunRings {
  const runs = new Map<RunId, Watched>();

  async function lookAt(watched: Watched): Promise<boolean> {
    try {
      const row = await desk.store.run(watched.identity);
      if (row && row.head <= watched.seen) return true;
      watched.seen = row?.head ?? watched.seen;
      watched.ring.push({ kind: "moved" }); // also when it is there no more: whoever looks finds out
      return true;
    } catch (cause) {
      desk.logger.warn("Looking for watchers failed", { cause: String(cause) });
      return false;
    }
  }

  return {
    async join(run) {
      const identity = await identities.of(run);
      const watched = runs.get(run) ?? { identity, ring: createRing<RingItem>(), watchers: 0, seen: 0 };
      runs.set(run, watched);
      watched.watchers += 1;
      return {
        identity,
        ring: watched.ring,
        leave() {
          watched.watchers -= 1;
          if (watched.watchers === 0) runs.delete(run);
        },
      };
    },
    hear({ run, seq, entries }) {
      const watched = runs.get(run);
      if (!watched) return;
      watched.seen = Math.max(watched.seen, seq);
      if (!entries) return watched.ring.push({ kind: "moved" });
      for (const entry of entries) {
        const place = { position: 0, seq: entry.seq };
        watched.ring.push({ kind: "event", placed: placeEntry(entry, watched.identity, place) });
      }
    },
    push: (run, item) => runs.get(run)?.ring.push(item),
    async look() {
      return (await Promise.all([...runs.values()].map(lookAt))).every(Boolean);
    },
    isEmpty: () => runs.size === 0,
  };
}
