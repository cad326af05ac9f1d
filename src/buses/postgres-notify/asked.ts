/** What other processes want to hear of this one. A wish that is not repeated for a while is forgotten, and so are its owner's. */
import type { RunId, Scope } from "../../domain/ids.ts";
import type { Wish } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import { repeatMs } from "./asking.ts";
import type { Ask } from "./payloads.ts";

export interface Asked {
  /** The wishes that are new: their writers begin again. */
  hear(from: string, asks: readonly Ask[]): readonly Wish[];
  isWanted(scope: Scope, run: RunId): boolean;
  isEmpty(): boolean;
}

interface Lease {
  readonly token: string;
  readonly until: number;
}

/** A repeat may be late, and one may be lost. */
const leaseMs = 3 * repeatMs;
/** More are not kept: whoever asks then waits for durable messages. */
const mostLeases = 100_000;

export function createAsked(clock: Clock): Asked {
  /** By what is wanted and by who wants it. */
  const wanted = new Map<string, Map<string, Lease>>();
  let leases = 0;
  let sweptAt = clock.monotonic();

  function sweep(now: number): void {
    sweptAt = now;
    leases = 0;
    for (const [key, owners] of wanted) {
      for (const [owner, { until }] of owners) if (until <= now) owners.delete(owner);
      leases += owners.size;
      if (owners.size === 0) wanted.delete(key);
    }
  }

  function isLive(key: string): boolean {
    const now = clock.monotonic();
    for (const { until } of wanted.get(key)?.values() ?? []) if (until > now) return true;
    return false;
  }

  function take(from: string, { scope, run, token }: Ask): boolean {
    const now = clock.monotonic();
    const key = keyOf(scope, run);
    const owners = wanted.get(key) ?? new Map<string, Lease>();
    const known = owners.get(from);
    if (!known && leases >= mostLeases) return false;
    wanted.set(key, owners);
    owners.set(from, { token, until: now + leaseMs });
    if (!known) leases += 1;
    return known === undefined || known.token !== token || known.until <= now;
  }

  return {
    hear(from, asks) {
      if (clock.monotonic() - sweptAt > leaseMs) sweep(clock.monotonic());
      return asks.filter((ask) => take(from, ask));
    },
    isWanted: (scope, run) => isLive(keyOf(scope, run)) || isLive(keyOf(scope, undefined)),
    isEmpty() {
      if (clock.monotonic() - sweptAt > repeatMs) sweep(clock.monotonic());
      return wanted.size === 0;
    },
  };
}

function keyOf(scope: Scope, run: RunId | undefined): string {
  return `${scope}\n${run ?? ""}`;
}
