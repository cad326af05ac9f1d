/** State as someone outside sees it: of a run at any of its cursors, and of a thread as it is now. */
import { foldAll } from "../domain/apply.ts";
import { readCursor, streamTag } from "../domain/cursor.ts";
import { HoldfastError } from "../domain/errors.ts";
import { frozen } from "../domain/frozen.ts";
import type { RunId, ThreadId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import { Problems } from "../domain/problems.ts";
import type { RunState } from "../domain/run-state.ts";
import type { ReadableKey } from "../domain/state-key.ts";
import { type Slots, slotOf } from "../domain/state-slots.ts";
import { readState, type StateSpace } from "../domain/state-space.ts";
import { loadState, readAfter } from "../engine/load.ts";
import { type Desk, surely } from "./desk.ts";
import { noSuchRun } from "./refusals.ts";

export interface StateOptions {
  /** A cursor of the run's own events: the state right after that event. Now unless said. */
  readonly at?: string;
}

export interface StateSnapshot {
  /** By name, everything that was ever written, keys that this process does not know included. */
  readonly values: Readonly<Record<string, JsonValue>>;
  /** What code would read: the initial value where nothing was written, an older version migrated. */
  get<Value>(key: ReadableKey<Value>): Value;
}

/** Run keys exactly as of the cursor; thread keys as this run last wrote them by then. */
export async function runState(run: RunId, options: StateOptions, desk: Desk): Promise<StateSnapshot> {
  const problems = new Problems(options, ["at"]);
  problems.optional("at", (at) => typeof at === "string", "must be a cursor of one of the run's events");
  problems.refuse("invalid-options", `The state of run ${run} cannot be read like this`);
  const key = { scope: desk.scope, run };
  const row = await desk.store.run(key);
  if (!row) throw noSuchRun(run, desk);
  const { at } = options;
  const seq = at === undefined ? row.head : seqOf(at, run, desk);
  if (seq > row.head) throw new HoldfastError("invalid-cursor", `Run ${run} has only ${row.head} events`);
  const state = await surely(`Reading the state of run ${run}`, desk, () => stateAt(key, seq, desk));
  return snapshot({ run: state.slots, thread: state.threadSlots });
}

function seqOf(cursor: string, run: RunId, desk: Desk): number {
  return readCursor(cursor, streamTag(desk.hash.sha256, [desk.scope, "run", run])).seq;
}

/** Replays the journal: no hook, tool or provider is called for it. */
async function stateAt(key: { scope: Desk["scope"]; run: RunId }, seq: number, desk: Desk): Promise<RunState> {
  const { state } = await loadState(key, desk.store);
  if (state.seq <= seq) return state;
  const entries = await readAfter(key, 0, desk.store);
  return foldAll(entries.filter((entry) => entry.seq <= seq));
}

export async function threadState(thread: ThreadId, desk: Desk): Promise<StateSnapshot> {
  const slots = await surely(`Reading the state of thread ${thread}`, desk, () =>
    desk.store.threadState({ scope: desk.scope, thread }),
  );
  const known = slots.map(({ key, version, value }) => [key, slotOf(value, version)] as const);
  return snapshot({ run: {}, thread: Object.fromEntries(known) });
}

function snapshot({ run, thread }: { readonly run: Slots; readonly thread: Slots }): StateSnapshot {
  const written = Object.entries({ ...thread, ...run }).map(([name, { value }]) => [name, value] as const);
  return {
    values: frozen(Object.fromEntries(written)),
    get(key) {
      const space: StateSpace = { keys: new Map([[key.name, key]]), run, thread, base: {} };
      return frozen(readState(space, key)) as never;
    },
  };
}
