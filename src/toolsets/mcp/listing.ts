/**
 * What the server's tools are now, against what the agents were defined with.
 *
 * D1 A tool is called only if the last list showed it as it was pinned, and that list is not too old.
 * D2 A list is read once for all who wait for it, and not more often than the pause allows, however often the server
 *    says that it has changed.
 */
import type { Hash } from "../../ports/hash.ts";
import { type Drift, driftOf } from "./drift.ts";
import type { McpLimits } from "./limits.ts";
import { listTools, type Opened } from "./open.ts";
import { type McpPin, type McpPins, readListed } from "./pins.ts";

export interface Listing {
  /** A new connection has come with its list. */
  opened(opened: Opened): void;
  /** There are pins now: the last list is looked at again. */
  pinned(): void;
  /** The server says that there is another list. */
  changed(opened: Opened): void;
  /** D1. Undefined when the tool may be called; otherwise what is wrong with it. Reads the list first if it has to. */
  problem(pin: McpPin, opened: Opened, now: boolean): Promise<string | undefined>;
  /** In words, by the server's names. */
  drift(): readonly string[];
}

interface Looking {
  readonly limits: McpLimits;
  readonly hash: Hash;
  readonly trusted: boolean;
  readonly pins: () => McpPins | undefined;
  readonly onChange: () => void;
}

const pauseMs = 200;

export function createListing({ limits, hash, trusted, pins, onChange }: Looking): Listing {
  let drift: Drift = new Map();
  let last: readonly unknown[] = [];
  let readAt = 0;
  let reading: Promise<void> | undefined;

  function take(listed: readonly unknown[]): void {
    readAt = performance.now();
    last = listed;
    compare();
  }

  function compare(): void {
    const pinned = pins();
    const listed = last;
    drift = pinned ? driftOf(pinned, listed, { read: (tool) => readListed(tool, hash), trusted }) : new Map();
    onChange();
  }

  /** D2. */
  function read(opened: Opened): Promise<void> {
    reading ??= (async () => {
      const soon = readAt + pauseMs - performance.now();
      if (soon > 0) await new Promise((resolve) => setTimeout(resolve, soon));
      // A server that had no tools is not asked for them; a connection that has ended throws.
      const { tools } = opened.client.getServerCapabilities() ?? {};
      if (tools || opened.listed.length > 0) take(await listTools(opened.client, limits));
    })().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  return {
    opened: ({ listed }) => take(listed),
    pinned: compare,
    changed: (opened) => void read(opened).catch(() => undefined),
    async problem(pin, opened, now) {
      const isOld = performance.now() - readAt >= limits.recheckMs;
      if (reading || isOld || now) await read(opened);
      return drift.get(pin.name);
    },
    drift: () => [...drift].map(([name, what]) => `${name} ${what}`),
  };
}
