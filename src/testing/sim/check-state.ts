/**
 * State in the journal: what is read, counted up and written is counted without a gap, whoever else writes there; and what
 * stands there in the end is what was written, in the run's fold and in the thread's rows.
 */
import { foldAll } from "../../domain/apply.ts";
import type { Entry, EntryStamp } from "../../domain/entry.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Slots, StateChanged } from "../../domain/state-slots.ts";
import type { Store } from "../../ports/store.ts";
import { mine, ours, type Stamp, ticks } from "./sim-plugins.ts";
import type { Report } from "./violations.ts";
import type { Watch, WatchedRun } from "./watch.ts";

export interface StateChecks {
  /** Answers the stamp that was written, if one was. */
  entry(entry: Entry, run: WatchedRun): Stamp | undefined;
  end(watch: Watch, store: Store): Promise<void>;
}

interface Written {
  readonly counts: Map<string, number>;
  /** How many ticks whoever writes `mine` next must have seen. */
  mustSee: number;
  /** `mine` was written, and its moment is not over: the next one is asked on what this one saw and said. */
  isOpen: boolean;
}

export function createStateChecks(report: Report): StateChecks {
  const runs = new Map<string, Written>();
  const threads = new Map<string, number>();

  function writtenBy({ key }: WatchedRun): Written {
    const written = runs.get(key.run) ?? { counts: new Map(), mustSee: 0, isOpen: false };
    runs.set(key.run, written);
    return written;
  }

  /** Each is one more than the last: nobody's is overwritten unseen, and nobody's is made twice. */
  function checkNext(stamp: Stamp, { key, seq }: EntryStamp & StateChanged, run: WatchedRun): void {
    const { thread } = run.row;
    const before = key === mine.name ? stampIn(run.state.slots) : (threads.get(thread) ?? 0);
    if (key === ours.name) threads.set(thread, stamp.n);
    if (stamp.n === before + 1) return;
    report("state-exact", `${run.key.run}: ${key} goes from ${before} to ${stamp.n} at ${seq}`);
  }

  /** Who writes has seen all there was when the key was last written, and nothing of the future. */
  function checkSeen(stamp: Stamp, { seq }: EntryStamp, run: WatchedRun): void {
    const written = writtenBy(run);
    const { mustSee: least } = written;
    const most = countIn(written, ticks.name) - 1; // its own one is written before
    written.mustSee = stamp.ticks + 1;
    written.isOpen = true;
    if (stamp.ticks >= least && stamp.ticks <= most) return;
    report("state-exact", `${run.key.run}: who wrote entry ${seq} saw ${stamp.ticks} ticks, of ${least} to ${most}`);
  }

  function endMoment(run: WatchedRun): void {
    const written = writtenBy(run);
    if (written.isOpen) written.mustSee = countIn(written, ticks.name);
    written.isOpen = false;
  }

  return {
    entry(entry, run) {
      if (entry.type === "command-applied") endMoment(run);
      if (entry.type !== "state-changed") return undefined;
      const written = writtenBy(run);
      written.counts.set(entry.key, countIn(written, entry.key) + 1);
      if (entry.key !== mine.name && entry.key !== ours.name) return undefined;
      const stamp = stampOf("value" in entry.change ? entry.change.value : null);
      checkNext(stamp, entry, run);
      if (entry.key === mine.name) checkSeen(stamp, entry, run);
      return stamp;
    },
    async end(watch, store) {
      for (const run of watch.runs.values()) checkCounts(run, writtenBy(run), report);
      const byThread = Map.groupBy(watch.runs.values(), ({ row }) => row.thread);
      for (const ofThread of byThread.values()) await checkThread(ofThread, store, report);
    },
  };
}

function stampOf(value: JsonValue): Stamp {
  return value as unknown as Stamp;
}

function stampIn(slots: Slots): number {
  const slot = slots[mine.name];
  return slot ? stampOf(slot.value).n : 0;
}

function countIn({ counts }: Written, key: string): number {
  return counts.get(key) ?? 0;
}

function checkCounts({ entries, key }: WatchedRun, written: Written, report: Report): void {
  const { slots } = foldAll(entries);
  const values = { [mine.name]: stampIn(slots), [ticks.name]: slots[ticks.name]?.value ?? 0 };
  for (const [name, value] of Object.entries(values)) {
    const count = countIn(written, name);
    if (value !== count) report("state-exact", `${key.run}: ${name} is ${JSON.stringify(value)} after ${count} writes`);
  }
}

/** The store's own rows, against what the thread's runs have written one after the other. */
async function checkThread(runs: readonly WatchedRun[], store: Store, report: Report): Promise<void> {
  const inTurn = [...runs].sort((a, b) => (a.row.startPosition ?? 0) - (b.row.startPosition ?? 0));
  const { key, row } = inTurn[0] as WatchedRun;
  const slots = Object.assign({}, ...inTurn.map(({ entries }) => foldAll(entries).threadSlots)) as Slots;
  const wanted = show(Object.entries(slots).map(([name, { value }]) => [name, value]));
  const rows = await store.threadState({ scope: key.scope, thread: row.thread });
  const found = show(rows.map((each) => [each.key, each.value]));
  if (found !== wanted) report("state-fold", `thread ${row.thread} holds ${found}, its runs wrote ${wanted}`);
}

function show(slots: readonly (readonly [string, JsonValue])[]): string {
  return JSON.stringify([...slots].sort(([a], [b]) => (a < b ? -1 : 1)));
}
