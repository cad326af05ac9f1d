/**
 * The SQLite store: one file, one connection per process, on the main thread.
 *
 * Q1 Every write is a job of the one writer; every read is one call on the same connection, so a process reads what it
 *    has written.
 * Q2 Several processes may share the file: what this process remembers (`places`) can never change.
 * Q3 `close` lets what was asked for finish; a call after it throws store-closed.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Entry } from "../../domain/entry.ts";
import type { RunId } from "../../domain/ids.ts";
import type { ReadRun, Store, StoreDeps } from "../../ports/store.ts";
import type { DeleteAnswer, PruneRuns } from "../../ports/thread-store.ts";
import { createCommitTally } from "../shared/commit-tally.ts";
import { storeClosed } from "../shared/refusals.ts";
import type { Access } from "./access.ts";
import { birthJob } from "./births.ts";
import { claimJob, dueScopes, nextDue, renewJob } from "./claims.ts";
import { commitJob, releaseJob } from "./commits.ts";
import { contentOf } from "./content.ts";
import type { Connection } from "./database.ts";
import { deleteThreadJob, erasedUpTo, eraseRunJob, pruneJob } from "./erasure.ts";
import { failureOf, storeBusy } from "./failures.ts";
import { readDue } from "./figures.ts";
import type { Job } from "./group.ts";
import { entriesAfter } from "./journal.ts";
import { readMessages } from "./message-pages.ts";
import { readThread } from "./messages.ts";
import { newThreadJob } from "./new-threads.ts";
import { type DatabaseOptions, openDatabase } from "./open-database.ts";
import { outboxOf } from "./outbox.ts";
import { createPlaces } from "./places.ts";
import { postJob } from "./posts.ts";
import { headPosition, readAll } from "./read-all.ts";
import { evidenceJob, readEvidence, readManifest, readRow, readSnapshot, snapshotJob } from "./reads.ts";
import { countRuns, listRuns } from "./run-lists.ts";
import { changeThreadJob, listThreads, readThreadRow } from "./thread-rows.ts";
import { readState } from "./thread-state.ts";
import { listTickets } from "./tickets.ts";
import { announceJob, unserved } from "./workers.ts";
import { busyPatienceMs, createWriter } from "./writer.ts";

export async function openSqliteStore(options: DatabaseOptions, deps: StoreDeps): Promise<Store> {
  const db = await openDatabase(options, () => deps.clock.now());
  return createSqliteStore(db, { path: options.path, ...deps });
}

interface StoreContext extends StoreDeps {
  readonly path: string;
}

function createSqliteStore(db: Connection, { path, clock, logger }: StoreContext): Store {
  const places = createPlaces(db);
  const tally = createCommitTally();
  const writer = createWriter(db, { path, logger, onUndone: places.forget, tally });
  const access: Access = { db, places, now: () => clock.now() };
  let closing: Promise<void> | undefined;

  async function write<T>(prepare: () => Job<T>): Promise<T> {
    if (closing !== undefined) throw storeClosed();
    return writer.submit(prepare());
  }
  async function read<T>(look: () => T): Promise<T> {
    if (closing !== undefined) throw storeClosed();
    return readPatiently(path, look);
  }
  async function erase(prepare: () => Job<DeleteAnswer>): Promise<DeleteAnswer> {
    const answer = await write(prepare);
    if (answer.kind === "deleted") emptyLog(db, { path, logger });
    return answer;
  }
  async function prune(what: PruneRuns): Promise<readonly RunId[]> {
    const erased = await write(() => pruneJob(access, what));
    if (erased.length > 0) emptyLog(db, { path, logger });
    return erased;
  }
  async function close(): Promise<void> {
    await writer.drain();
    db.close();
  }

  return {
    create: (birth) => write(() => birthJob(access, birth)),
    createThread: (thread) => write(() => newThreadJob(access, thread)),
    commit: (commit) => write(() => commitJob(access, commit)),
    release: (release) => write(() => releaseJob(access, release)),
    post: (post) => write(() => postJob(access, post)),
    claim: (request) => write(() => claimJob(access, request)),
    renew: (renewal) => write(() => renewJob(access, renewal)),
    nextDue: (request) => read(() => nextDue(db, request)),
    dueScopes: (request) => read(() => dueScopes(db, request)),
    announce: (announcement) => write(() => announceJob(access, announcement)),
    unserved: (request) => read(() => unserved(access, request)),
    run: (key) => read(() => readRow(db, key)),
    readRun: (request) => read(() => readRun(access, request)),
    readAll: (request) => read(() => readAll(db, request)),
    readThread: (request) => read(() => readThread(db, request)),
    thread: (key) => read(() => readThreadRow(db, key)),
    threads: (list) => read(() => listThreads(db, list)),
    changeThread: (change) => write(() => changeThreadJob(access, change)),
    messages: (list) => read(() => readMessages(db, list)),
    threadState: (key) => read(() => readState(db, key)),
    deleteThread: (what) => erase(() => deleteThreadJob(access, what)),
    eraseRun: (key) => erase(() => eraseRunJob(access, key)),
    prune,
    runs: (list) => read(() => listRuns(db, list)),
    countRuns: (filter) => read(() => countRuns(db, filter)),
    head: () => read(() => headPosition(db)),
    pulse: () => read(() => String(headPosition(db))),
    erasedUpTo: (scope) => read(() => erasedUpTo(db, scope)),
    tickets: (filter) => read(() => listTickets(db, filter)),
    manifest: (scope, fingerprint) => read(() => readManifest(db, scope, fingerprint)),
    saveSnapshot: async (key, snapshot) => void (await write(() => snapshotJob(access, key, snapshot))),
    snapshot: (key) => read(() => readSnapshot(db, key)),
    addEvidence: async (evidence) => void (await write(() => evidenceJob(access, evidence))),
    evidence: (key) => read(() => readEvidence(db, key)),
    ...outboxOf(access, { write, read }),
    ...contentOf(access, { write, read }),
    figures: (request) =>
      read(() => ({ ...readDue(access, request), ...tally.figures(), ...{ hidden: 0, hiddenMs: 0 } })),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/**
 * The WAL still holds the pages as they were before the erasure. It cannot be emptied while another process reads: then
 * the next checkpoint does it, at the latest that of the last close.
 */
function emptyLog(db: Connection, { path, logger }: Pick<StoreContext, "path" | "logger">): void {
  try {
    const row = db.get<{ busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)");
    if (row?.busy === 1) logger.note("Erased text stays in the WAL until its next checkpoint", { path });
  } catch (cause) {
    logger.note("Erased text stays in the WAL until its next checkpoint", { path, cause: String(cause) });
  }
}

function readRun({ db, places }: Access, request: ReadRun): readonly Entry[] {
  const place = places.find(request);
  const entries = place ? entriesAfter(db, place, request) : [];
  if (entries.length > 0 || !place) return entries;
  const now = places.again(request);
  return now && now !== place ? entriesAfter(db, now, request) : [];
}

/** In WAL a reader waits for nobody, except for the moment in which another process recovers or leaves the file. */
async function readPatiently<T>(path: string, look: () => T): Promise<T> {
  const until = performance.now() + busyPatienceMs;
  for (;;) {
    try {
      return look();
    } catch (cause) {
      const failure = failureOf(cause, "work", path);
      if (failure.kind === "thrown") throw failure.error;
      if (performance.now() > until) throw storeBusy(path, cause);
      await delay(1);
    }
  }
}
