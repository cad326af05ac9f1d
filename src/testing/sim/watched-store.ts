/**
 * The store with the transition checks inside its port. It wraps whatever store it is given, a mutant too, and reads
 * what each write has done to the journal and the row.
 */
import type { Entry } from "../../domain/entry.ts";
import type { Claim, RunKey, RunRow, Store } from "../../ports/store.ts";
import { checkEntry } from "./check-entries.ts";
import { checkClaim, checkCommit, checkPost, checkRelease, checkRenew, type Write } from "./check-writes.ts";
import type { Report } from "./violations.ts";
import { type Watch, type WatchedRun, watchRun } from "./watch.ts";

export interface StoreWatching {
  readonly watch: Watch;
  readonly report: Report;
  readonly now: () => number;
  readonly entry?: ((entry: Entry, run: WatchedRun) => void) | undefined;
}

interface Watched extends StoreWatching {
  readonly store: Store;
}

const wholeJournal = 1_000_000;

export function watchStore(store: Store, watching: StoreWatching): Store {
  const watched: Watched = { ...watching, store };
  return {
    ...store,
    async create(birth) {
      const { identity } = birth.entry;
      const at = watching.now();
      const answer = await write(watched, identity, { act: () => store.create(birth) });
      const takesOver = birth.whenBusy === "interrupt" || birth.whenBusy === "supersede";
      if (takesOver) await lookAtThread(watched, identity, at);
      return answer;
    },
    async commit(commit) {
      const at = watching.now();
      try {
        return await write(watched, commit, {
          act: () => store.commit(commit),
          check: (answer, seen) => checkCommit(commit, answer, seen),
        });
      } finally {
        if (commit.successor) await look(watched, commit.successor.entry.identity, at);
      }
    },
    release: (release) =>
      write(watched, release, {
        act: () => store.release(release),
        check: (answer, seen) => checkRelease(release, answer, seen),
      }),
    post: (post) =>
      write(watched, post, { act: () => store.post(post), check: (answer, seen) => checkPost(post, answer, seen) }),
    renew: (renewal) =>
      write(watched, renewal, {
        act: () => store.renew(renewal),
        check: (answer, seen) => checkRenew(renewal, answer, seen),
      }),
    async claim(request) {
      const at = watching.now();
      const claims: readonly Claim[] = await store.claim(request);
      for (const claim of claims) {
        const seen = await look(watched, claim, at);
        if (seen) checkClaim(request, claim, seen);
      }
      return claims;
    },
  };
}

interface Act<T> {
  readonly act: () => Promise<T>;
  readonly check?: (answer: T | undefined, write: Write) => void;
}

/** Does the write, then looks; a write that throws must have changed nothing. */
async function write<T>(watched: Watched, key: RunKey, { act, check }: Act<T>): Promise<T> {
  const at = watched.now();
  let answer: T | undefined;
  try {
    answer = await act();
    return answer;
  } finally {
    const seen = await look(watched, key, at);
    if (seen) check?.(answer, seen);
    if (seen?.added.some((entry) => entry.type === "run-ended")) await lookAtThread(watched, seen.after, at);
  }
}

/** What the store holds of this run now, and what came to it since we last looked. */
async function look(watched: Watched, key: RunKey, at: number): Promise<Write | undefined> {
  const { store, watch, report, entry: see } = watched;
  const after = await store.run(key);
  const entries = await store.readRun({ ...key, after: 0, limit: wholeJournal });
  const [created] = entries;
  if (!after || !created) return undefined;
  const run = watch.runs.get(key.run) ?? watchRun(after, created);
  watch.runs.set(key.run, run);
  const before = run.row;
  checkJournal(run, entries, report);
  if (after.head !== entries.length) report("seq-gapless", `${key.run}: head ${after.head} of ${entries.length}`);
  const added = entries.slice(run.entries.length);
  run.row = after;
  for (const entry of added) checkEntry(entry, { run, watch, report, entry: see });
  checkStatus(run, report);
  return { before, after, added, run, now: at, report };
}

/**
 * An end promotes the next run of the thread or bears its successor, a birth may ask the active one to end: no other
 * write changes two runs.
 */
async function lookAtThread(
  watched: Watched,
  { run: written, thread }: Pick<RunRow, "run" | "thread">,
  at: number,
): Promise<void> {
  for (const run of watched.watch.runs.values()) {
    if (run.key.run !== written && run.row.thread === thread) await look(watched, run.key, at);
  }
}

function checkJournal(run: WatchedRun, entries: readonly Entry[], report: Report): void {
  const { run: id } = run.key;
  for (const [index, entry] of entries.entries()) {
    if (entry.seq !== index + 1) report("seq-gapless", `${id}: entry ${index + 1} has seq ${entry.seq}`);
    const old = run.entries[index];
    if (old && old !== entry && !same(old, entry)) report("entries-immutable", `${id}: entry ${index + 1} has changed`);
  }
}

/** Each entry's own move is checked by the fold; the row may only follow it. */
function checkStatus(run: WatchedRun, report: Report): void {
  const { status } = run.row;
  if (run.state.status === status) return;
  report("status-legal", `${run.key.run} is ${status}, its journal says ${run.state.status}`);
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
