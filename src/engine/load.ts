/** Resume = load the snapshot if its fold fits, fold the rest, decide. The same for a first start and a tenth resume. */
import { fold, foldAll } from "../domain/apply.ts";
import type { Entry, InputReceived, RunCreated } from "../domain/entry.ts";
import { HoldfastError } from "../domain/errors.ts";
import { type HistoryMark, markKey } from "../domain/history.ts";
import { foldVersion, type RunState } from "../domain/run-state.ts";
import { type Slots, slotNamed, slotOf } from "../domain/state-slots.ts";
import type { RunKey, Store } from "../ports/store.ts";
import type { ThreadKey } from "../ports/thread-store.ts";
import { openTranscript, type Transcript } from "./transcript.ts";

const page = 256;

export interface Loaded {
  readonly state: RunState;
  readonly transcript: Transcript;
  /** The thread's state now: while the run is at work, nobody else writes it. */
  readonly threadBase: Slots;
  /** Seq of the snapshot that was used, 0 for none. */
  readonly snapshotSeq: number;
}

/** What a run's code needs besides its state. */
export async function loadRest(
  key: RunKey & { readonly thread: RunState["created"]["identity"]["thread"] },
  found: Pick<Loaded, "state" | "snapshotSeq">,
  deps: {
    readonly store: Store;
    readonly window: number;
    /** Messages that the thread held when the run was claimed. */
    readonly threadPosition: number;
    /** The agent has state keys of the thread. */
    readonly readsThread: boolean;
  },
): Promise<Loaded> {
  const { store } = deps;
  const { state, snapshotSeq } = found;
  const [created] = await store.readRun({ ...key, after: 0, limit: 1 });
  const limit = deps.window + 1;
  const messages = await store.readThread({ scope: key.scope, thread: key.thread, limit });
  const { input } = created as Entry & RunCreated;
  const isBegun = state.startedAt !== undefined;
  const isFirst = !isBegun && deps.threadPosition === 0; // then no mark was ever written
  const threadBase = isFirst && !deps.readsThread ? {} : await readThreadState(key, store);
  const transcript = openTranscript({
    run: key.run,
    messages,
    input,
    isBegun,
    length: isBegun ? state.position + state.appended : deps.threadPosition,
    mark: state.ownMark ?? (slotNamed(threadBase, markKey)?.value as unknown as HistoryMark | undefined),
    mayHaveMore: messages.length === limit,
  });
  for (const pending of state.inbox) transcript.take(await entryAt(key, pending.seq, store));
  return { state, transcript, threadBase, snapshotSeq };
}

async function readThreadState(key: ThreadKey, store: Store): Promise<Slots> {
  const slots = await store.threadState(key);
  return Object.fromEntries(slots.map(({ key: name, version, value }) => [name, slotOf(value, version)]));
}

export async function loadState(key: RunKey, store: Store): Promise<{ state: RunState; snapshotSeq: number }> {
  const snapshot = await store.snapshot(key);
  if (snapshot?.foldVersion === foldVersion) {
    const state = JSON.parse(snapshot.state) as RunState;
    return { state: fold(state, await readAfter(key, state.seq, store)), snapshotSeq: snapshot.seq };
  }
  return { state: foldAll(await readAfter(key, 0, store)), snapshotSeq: 0 };
}

export async function readAfter(key: RunKey, after: number, store: Store): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const more = await store.readRun({ ...key, after: entries.at(-1)?.seq ?? after, limit: page });
    if (more.length === 0) return entries;
    entries.push(...more);
  }
}

async function entryAt(key: RunKey, seq: number, store: Store): Promise<Entry & InputReceived> {
  const [entry] = await store.readRun({ ...key, after: seq - 1, limit: 1 });
  if (entry?.type === "input-received") return entry;
  throw new HoldfastError("entry-unreadable", `Run ${key.run}: entry ${seq} should be an input`);
}
