/**
 * The PostgreSQL store: one schema, a pool of connections, many processes.
 *
 * Q1 Every write is a job of the writer; every read is one statement (two for reads over many runs), so that read
 *    committed is enough. A process reads what it has written.
 * Q2 A read that lost its connection is done again once; what is certain is answered, everything else throws (S10).
 * Q3 `close` lets what was asked for finish; a call after it throws store-closed.
 */
import type { RunId } from "../../domain/ids.ts";
import type { Birth } from "../../ports/birth.ts";
import type { BirthAnswer, Store, StoreDeps } from "../../ports/store.ts";
import type { PruneRuns } from "../../ports/thread-store.ts";
import { createCommitTally } from "../shared/commit-tally.ts";
import { storeClosed } from "../shared/refusals.ts";
import type { Access } from "./access.ts";
import { birthJob } from "./births.ts";
import { claimJob, dueScopes, nextDue, renewJob } from "./claims.ts";
import { insertCommits } from "./commit-rows.ts";
import { commitJob, releaseJob } from "./commits.ts";
import { contentOf } from "./content.ts";
import type { Database, Queries, Session } from "./database.ts";
import { deleteThreadJob, endedRuns, erasedUpTo, eraseRunJob, pruneJob } from "./erasure.ts";
import { failureOf, isLost, isStale, storeBusy } from "./failures.ts";
import { readDue } from "./figures.ts";
import type { Job } from "./jobs.ts";
import { entriesAfter } from "./journal.ts";
import { readMessages, readThread } from "./messages.ts";
import { newThreadJob } from "./new-threads.ts";
import { type OpenOptions, openDatabase } from "./open-database.ts";
import { outboxOf } from "./outbox.ts";
import { postJob } from "./posts.ts";
import { createFeed } from "./read-all.ts";
import { evidenceJob, readEvidence, readManifest, readRow, readSnapshot, snapshotJob } from "./reads.ts";
import { countRuns, listRuns } from "./run-lists.ts";
import { createServerClock, readTime } from "./server-clock.ts";
import { changeThreadJob, listThreads, readThreadRow } from "./thread-rows.ts";
import { readState } from "./thread-state.ts";
import { listTickets } from "./tickets.ts";
import { announceJob, unserved } from "./workers.ts";
import { createWriter } from "./writer.ts";

export async function openPostgresStore(options: OpenOptions, deps: StoreDeps): Promise<Store> {
  const db = await openDatabase(options, deps);
  const store = createPostgresStore(db, options, deps);
  if (options.time === "clock") return store;
  try {
    return { ...store, now: await createServerClock(deps.clock, () => readPatiently(db, readTime)) };
  } catch (cause) {
    await store.close();
    throw cause;
  }
}

/** On a pool that may outlive it: closing the store closes the database it was given. */
export function createPostgresStore(db: Database, options: OpenOptions, deps: StoreDeps): Store {
  const access: Access = {
    schema: db.schema,
    insertCommits: insertCommits(db.schema),
    time: () => (options.time === "clock" ? deps.clock.now() : null),
    tally: createCommitTally(),
  };
  const writer = createWriter(db, access, options.connections);
  const feed = createFeed(db.schema, deps.logger);
  const manifests = createKnownManifests();
  let closing: Promise<void> | undefined;

  async function write<T>(prepare: () => Job<T>): Promise<T> {
    if (closing !== undefined) throw storeClosed();
    return writer.submit(prepare());
  }
  const reading = new Set<Promise<unknown>>();
  async function read<T>(look: (db: Queries) => Promise<T>): Promise<T> {
    if (closing !== undefined) throw storeClosed();
    const looking = readPatiently(db, look);
    reading.add(looking);
    return looking.finally(() => reading.delete(looking));
  }
  async function create(birth: Birth): Promise<BirthAnswer> {
    const answer = await write(() => birthJob(access, birth, manifests));
    if (answer.kind === "created") manifests.add(birth);
    return answer;
  }
  async function prune(what: PruneRuns): Promise<readonly RunId[]> {
    const found = await read((q) => endedRuns(q, access, what));
    return found.length === 0 ? [] : write(() => pruneJob(what.scope, found));
  }
  async function close(): Promise<void> {
    await Promise.allSettled([writer.drain(), ...reading]);
    await db.close();
  }

  return {
    create,
    createThread: (thread) => write(() => newThreadJob(access, thread)),
    commit: (commit) => write(() => commitJob(access, commit)),
    release: (release) => write(() => releaseJob(access, release)),
    post: (post) => write(() => postJob(access, post)),
    claim: (request) => write(() => claimJob(access, request)),
    renew: (renewal) => write(() => renewJob(access, renewal)),
    nextDue: (request) => read((q) => nextDue(q, request)),
    dueScopes: (request) => read((q) => dueScopes(q, request)),
    announce: (announcement) => write(() => announceJob(access, announcement)),
    unserved: (request) => read((q) => unserved(q, access, request)),
    run: (key) => read((q) => readRow(q, key)),
    readRun: (request) => read((q) => entriesAfter(q, request)),
    readAll: (request) => read((q) => feed.readAll(q, request)),
    readThread: (request) => read((q) => readThread(q, request)),
    thread: (key) => read((q) => readThreadRow(q, key)),
    threads: (list) => read((q) => listThreads(q, list)),
    changeThread: (change) => write(() => changeThreadJob(access, change)),
    messages: (list) => read((q) => readMessages(q, list)),
    threadState: (key) => read((q) => readState(q, key)),
    deleteThread: (what) => write(() => deleteThreadJob(what)),
    eraseRun: (key) => write(() => eraseRunJob(key)),
    prune,
    runs: (list) => read((q) => listRuns(q, list)),
    countRuns: (filter) => read((q) => countRuns(q, filter)),
    head: () => read((q) => feed.head(q)),
    pulse: () => read((q) => feed.pulse(q)),
    erasedUpTo: (scope) => read((q) => erasedUpTo(q, scope)),
    tickets: (filter) => read((q) => listTickets(q, filter)),
    manifest: (scope, fingerprint) => read((q) => readManifest(q, scope, fingerprint)),
    saveSnapshot: async (key, snapshot) => void (await write(() => snapshotJob(key, snapshot))),
    snapshot: (key) => read((q) => readSnapshot(q, key)),
    addEvidence: async (evidence) => void (await write(() => evidenceJob(access, evidence))),
    evidence: (key) => read((q) => readEvidence(q, key)),
    ...outboxOf(access, { write, read }),
    ...contentOf(access, { write, read }),
    figures: (request) =>
      read(async (q) => ({
        ...(await readDue(q, access, request)),
        ...access.tally.figures(),
        ...(await feed.lag(q)),
      })),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

const mostManifests = 1_000;

function createKnownManifests(): { has(birth: Birth): boolean; add(birth: Birth): void } {
  const known = new Set<string>();
  const nameOf = ({ entry }: Birth): string => `${entry.identity.scope}\n${entry.manifest.fingerprint}`;
  return {
    has: (birth) => known.has(nameOf(birth)),
    add: (birth) => {
      if (known.size >= mostManifests) known.clear();
      known.add(nameOf(birth));
    },
  };
}

/** Q2. */
async function readPatiently<T>(db: Database, look: (db: Queries) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    let session: Session | undefined;
    try {
      session = await db.connect();
      const found = await look(session);
      session.release(false);
      return found;
    } catch (cause) {
      session?.release(isLost(cause) || isStale(cause));
      const failure = failureOf(cause, "work", db.name);
      if (failure.kind === "thrown") throw failure.error;
      if (attempt > 1) throw failure.kind === "lost" ? failure.error : storeBusy(db.name, cause);
    }
  }
}
