/** The newest commits of the scope in one ring: one reader of the store for all who watch many runs. */
import type { Desk } from "./desk.ts";
import type { Identities } from "./identities.ts";
import { createRing, type Ring } from "./ring.ts";
import type { RingItem } from "./watch.ts";

export interface ScopeTail {
  join(): Promise<{ readonly ring: Ring<RingItem>; leave(): void }>;
  push(item: RingItem): void;
  /** Something was committed by someone: read on. What is told meanwhile makes it look once more. False: it failed. */
  look(): Promise<boolean>;
  isEmpty(): boolean;
}

interface Tail {
  readonly ring: Ring<RingItem>;
  watchers: number;
  /** The last position that went into the ring. */
  position: number;
  /** Resolves to whether everything told by then was read. */
  reading: Promise<boolean> | undefined;
  again: boolean;
}

const page = 64;

export function createScopeTail(desk: Desk, identities: Identities): ScopeTail {
  let tail: Tail | undefined;

  async function read(reading: Tail): Promise<void> {
    for (;;) {
      const head = await desk.store.head();
      const rows = await desk.store.readAll({ scope: desk.scope, after: reading.position, limit: page });
      for (const row of rows) {
        for (const placed of await identities.place(row)) reading.ring.push({ kind: "event", placed });
        reading.position = row.position;
      }
      if (rows.length === page) continue;
      // Nothing of this scope up to the head: what other scopes wrote is not walked again.
      reading.position = Math.max(reading.position, head);
      return;
    }
  }

  async function readOn(reading: Tail): Promise<boolean> {
    try {
      while (reading.again) {
        reading.again = false;
        await read(reading);
      }
      return true;
    } catch (cause) {
      // The next hint or poll tries again; nothing was passed over.
      desk.logger.warn("Reading for watchers failed", { cause: String(cause) });
      return false;
    } finally {
      reading.reading = undefined;
    }
  }

  return {
    async join() {
      const position = await desk.store.head();
      tail ??= { ring: createRing<RingItem>(), watchers: 0, position, reading: undefined, again: false };
      const joined = tail;
      joined.watchers += 1;
      return {
        ring: joined.ring,
        leave() {
          joined.watchers -= 1;
          if (joined.watchers === 0 && tail === joined) tail = undefined;
        },
      };
    },
    push: (item) => tail?.ring.push(item),
    look() {
      if (!tail) return Promise.resolve(true);
      tail.again = true;
      tail.reading ??= readOn(tail);
      return tail.reading;
    },
    isEmpty: () => tail === undefined,
  };
}
