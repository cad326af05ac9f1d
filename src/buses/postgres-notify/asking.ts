/** What this process wants to hear: said when it begins, and again and again while it lasts. Who stops asking is forgotten. */
import type { Wish } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ask } from "./payloads.ts";

export interface Asking {
  ask(wish: Wish): () => void;
  /** What was sent while the line was away is lost: everybody begins again. */
  renew(): void;
  /** For a process that has just come. */
  repeat(): void;
  close(): void;
}

interface AskingDeps {
  readonly clock: Clock;
  readonly send: (asks: readonly Ask[]) => void;
}

interface Asked {
  readonly wish: Wish;
  times: number;
  /** Differs each time somebody begins to listen. */
  number: number;
}

export const repeatMs = 5_000;
const gatherMs = 20;

export function createAsking({ clock, send }: AskingDeps): Asking {
  const asked = new Map<string, Asked>();
  const fresh = new Set<Asked>();
  const stop = new AbortController();
  let number = 0;
  let lines = 0;
  let isRepeating = false;

  function say(list: Iterable<Asked>): void {
    const asks = [...list].map((each) => ({ ...each.wish, token: `${lines}.${each.number}` }));
    if (asks.length > 0) send(asks);
  }

  async function sayFresh(): Promise<void> {
    await clock.sleep(gatherMs, stop.signal);
    say(fresh);
    fresh.clear();
  }

  async function keepSaying(): Promise<void> {
    if (isRepeating) return;
    isRepeating = true;
    while (asked.size > 0 && !stop.signal.aborted) {
      await clock.sleep(repeatMs, stop.signal);
      if (!stop.signal.aborted) say(asked.values());
    }
    isRepeating = false;
  }

  return {
    ask(wish) {
      const key = `${wish.scope}\n${wish.run ?? ""}`;
      const each = asked.get(key) ?? { wish, times: 0, number: 0 };
      number += 1;
      each.number = number;
      each.times += 1;
      asked.set(key, each);
      fresh.add(each);
      if (fresh.size === 1) sayFresh().catch(() => undefined);
      keepSaying().catch(() => undefined);
      return () => {
        each.times -= 1;
        if (each.times === 0) asked.delete(key);
      };
    },
    renew() {
      lines += 1;
      say(asked.values());
    },
    repeat: () => say(asked.values()),
    close() {
      stop.abort("closed");
      asked.clear();
      fresh.clear();
    },
  };
}
