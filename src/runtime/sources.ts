/** What can be watched: one run by seq, or many runs by the store's position, cut by a compiled filter. */
import { streamTag } from "../domain/cursor.ts";
import { compileFilter, type EventFilter } from "../domain/event-filter.ts";
import type { RunId } from "../domain/ids.ts";
import { type Desk, surely } from "./desk.ts";
import { isIdle, restingTickets } from "./idle.ts";
import { placeEntry } from "./placed.ts";
import { noSuchRun } from "./refusals.ts";
import type { Source } from "./watch.ts";
import type { WatchHub } from "./watch-hub.ts";

const page = 64;

export async function runSource(run: RunId, desk: Desk, hub: WatchHub): Promise<Source> {
  const key = { scope: desk.scope, run };
  // Not only its identity, which may be remembered: an erased run is gone.
  if (!(await desk.store.run(key))) throw noSuchRun(run, desk);
  const { identity, ring, leave } = await hub.joinRun(run);
  const asking = askFor([run], hub);
  return {
    tag: streamTag(desk.hash.sha256, [desk.scope, "run", run]),
    ring,
    async read(after) {
      const entries = await read(desk, () => desk.store.readRun({ ...key, after: after.seq, limit: page }));
      return entries
        .filter((entry) => entry.seq > after.seq)
        .map((entry) => placeEntry(entry, identity, { position: 0, seq: entry.seq }));
    },
    async now() {
      const row = await read(desk, () => desk.store.run(key));
      return { position: 0, seq: row?.head ?? 0 };
    },
    order: (last, next) => (next.seq <= last.seq ? "seen" : next.seq === last.seq + 1 ? "next" : "hole"),
    async check(from) {
      const row = await read(desk, () => desk.store.run(key));
      return row && from.seq <= row.head ? "fits" : "ahead";
    },
    wants: () => true,
    wantsLive: () => true,
    partials: () => [hub.live.partial(desk.scope, run)].filter((partial) => partial !== undefined),
    ask: asking.again,
    async rest(last) {
      const row = await read(desk, () => desk.store.run(key));
      if (!row) return "erased";
      if (row.head !== last.seq || !isIdle(row, desk.clock.now())) return "going-on";
      const { store, clock } = desk;
      if (!(await read(desk, () => restingTickets(row, { store, now: clock.now() })))) return "going-on";
      return row.status === "done" ? "ended" : "idle";
    },
    pause: (signal) => desk.clock.sleep(desk.watchPollMs, signal),
    leave() {
      asking.stop();
      leave();
    },
  };
}

export async function manySource(filter: EventFilter, desk: Desk, hub: WatchHub): Promise<Source> {
  const compiled = compileFilter(filter);
  const { ring, leave } = await hub.joinAll();
  const asking = askFor(compiled.liveRuns, hub);
  const only = {
    ...(compiled.onlyThread === undefined ? {} : { thread: compiled.onlyThread }),
    ...(compiled.onlyAgent === undefined ? {} : { agent: compiled.onlyAgent }),
  };
  return {
    tag: streamTag(desk.hash.sha256, [desk.scope, "many", desk.hash.canonical(compiled.canonical)]),
    ring,
    async read(after) {
      // From the row before: a cursor may stand inside a commit.
      const from = Math.max(0, after.position - 1);
      const rows = await read(desk, () => desk.store.readAll({ scope: desk.scope, after: from, limit: page, ...only }));
      const placed = (await Promise.all(rows.map((row) => hub.identities.place(row)))).flat();
      return placed.filter(({ place }) => isAfter(after, place));
    },
    async now() {
      const position = await read(desk, () => desk.store.head());
      return { position, seq: Number.MAX_SAFE_INTEGER };
    },
    order: (last, next) => (isAfter(last, next) ? "next" : "seen"),
    async check(from) {
      if (from.position > (await desk.store.head())) return "ahead";
      return from.position < (await desk.store.erasedUpTo(desk.scope)) ? "erased" : "fits";
    },
    wants: compiled.matches,
    wantsLive: ({ run, thread }) => compiled.matchesRun(run, thread),
    partials: () => hub.live.partials(desk.scope).filter(({ run, thread }) => compiled.matchesRun(run, thread)),
    ask: asking.again,
    rest: async () => "going-on",
    pause: (signal) => desk.clock.sleep(desk.watchPollMs, signal),
    leave() {
      asking.stop();
      leave();
    },
  };
}

/** Asked anew each time a watcher joins what is being written. */
function askFor(runs: readonly (RunId | undefined)[], hub: WatchHub): { again(): void; stop(): void } {
  let asked: readonly (() => void)[] = [];
  const stop = (): void => {
    for (const end of asked) end();
    asked = [];
  };
  return {
    again() {
      stop();
      asked = runs.map((run) => hub.ask(run));
    },
    stop,
  };
}

function isAfter(last: { position: number; seq: number }, next: { position: number; seq: number }): boolean {
  return next.position > last.position || (next.position === last.position && next.seq > last.seq);
}

/** A store that is busy for a while does not end a watch. */
function read<T>(desk: Desk, call: () => Promise<T>): Promise<T> {
  return surely("Reading for a watcher", desk, call);
}
