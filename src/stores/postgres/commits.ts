/**
 * The worker door: `commit` and `release`.
 *
 * C4 Every projection of a commit is written after its row, in the same transaction, and only if the row was taken.
 * C5 Why a row was not taken is read from the row as it was locked: epoch first, then the head, then the end.
 */
import { isHoldfastError } from "../../domain/errors.ts";
import { rowChanges } from "../../domain/row-changes.ts";
import type { Commit, CommitAnswer, Release, Transact } from "../../ports/store.ts";
import { afterTheEnd, type Expectation, emptyCommit, journalRegressed } from "../shared/refusals.ts";
import { type Access, type RowWait, storeTime, type Tx } from "./access.ts";
import { type CommitRow, type PreparedCommit, writeRows } from "./commit-rows.ts";
import { citeContent } from "./content.ts";
import type { Queries } from "./database.ts";
import { endRun } from "./ends.ts";
import { birthKeys, type Job, keyOf } from "./jobs.ts";
import { bodyOf, entriesAfter } from "./journal.ts";
import { addDeliveries } from "./outbox.ts";
import { checkBirth } from "./successors.ts";
import { writeState } from "./thread-state.ts";
import { openTickets, settleTickets, type TakenCommit, takeInputs } from "./ticket-rows.ts";
import { applyIn, refuseAborted } from "./transactions.ts";

export function commitJob(access: Access, commit: Commit): Job<CommitAnswer> {
  if (commit.transaction) return transactJob(access, commit, commit.transaction);
  const changes = rowChanges(commit.entries);
  const prepared = { commit, changes, body: bodyOf(commit.entries) };
  return {
    scope: commit.scope,
    keys: [keyOf(commit), ...(commit.successor ? birthKeys(commit.successor) : [])],
    bytes: prepared.body.length,
    needs: { runs: [commit], ...(changes.status === "done" ? { threadsOf: [commit] } : {}) },
    commit: prepared,
    isCommit: true,
    write: async (tx) => {
      const [outcome] = await writeCommits(tx, access, [prepared]);
      if (outcome && "answer" in outcome) return outcome.answer;
      throw outcome?.error;
    },
  };
}

/** S12: the run's row is held from the fence to the end. */
function transactJob(access: Access, commit: Commit, transaction: Transact): Job<CommitAnswer> {
  return {
    ...{
      scope: commit.scope,
      keys: [keyOf(commit)],
      bytes: 0,
      needs: { runs: [commit] },
      isLone: true,
      isCommit: true,
    },
    write: async (tx) => {
      const refusal = await refusalOf(tx, commit, await tx.get<HeldRow>(heldRow, [commit.scope, commit.run]));
      if (refusal) return refusal;
      const entries = await applyIn(tx, { ...commit, transaction });
      const prepared = { commit: { ...commit, entries }, changes: rowChanges(entries), body: bodyOf(entries) };
      const [outcome] = await writeCommits(tx, access, [prepared]).catch(refuseAborted);
      if (outcome && "answer" in outcome) return outcome.answer;
      throw outcome?.error;
    },
  };
}

const heldRow = "SELECT no, epoch, head FROM hf.runs WHERE scope = $1 AND id = $2";
type HeldRow = Pick<CommitRow, "no" | "epoch" | "head">;

/** It changes its run's row and the journal, and nothing else. */
export function isSimple({ commit, changes }: PreparedCommit): boolean {
  const { status, opened, decided, takenInputs, slots, cites } = changes;
  if (slots.length + cites.length + (commit.deliveries?.length ?? 0) > 0) return false;
  return status !== "done" && !commit.successor && opened.length + decided.length + takenInputs.length === 0;
}

/** Simple commits as one statement that commits itself. Undefined where only a transaction can tell the answer. */
export async function writeSimple(
  db: Queries,
  access: Access,
  all: readonly PreparedCommit[],
): Promise<readonly (CommitAnswer | undefined)[]> {
  const rows = await writeRows(db, access, all);
  return rows.map(({ time }) => (time === null ? undefined : { kind: "committed", at: time }));
}

/** A refusal is a member's own outcome: it was left out, and its neighbours are not disturbed. */
export type Outcome<T = unknown> = { readonly answer: T } | { readonly error: unknown };

/** Commits of different runs, in a transaction that holds their rows. */
export async function writeCommits(
  tx: Tx,
  access: Access,
  all: readonly PreparedCommit[],
): Promise<readonly Outcome<CommitAnswer>[]> {
  const [first] = all;
  const refused = first?.commit.successor && (await refusedBirth(tx, first));
  if (refused) return [refused]; // it stands alone
  const rows = await writeRows(tx, access, all);
  const taken = all.flatMap((prepared, index) => takenOf(prepared, rows[index]));
  await openTickets(tx, taken);
  await settleTickets(tx, taken);
  await takeInputs(tx, taken);
  await writeState(tx, taken);
  await addDeliveries(tx, taken);
  for (const each of taken) if (each.changes.status === "done") await endRun(tx, each);
  await citeContent(tx, taken.map(citingOf));
  const outcomes: Outcome<CommitAnswer>[] = [];
  for (const [index, { commit }] of all.entries()) outcomes.push(await outcomeOf(tx, commit, rows[index]));
  return outcomes;
}

function citingOf({ commit, changes, no }: TakenCommit): Parameters<typeof citeContent>[1][number] {
  const { scope, run, expectedSeq } = commit;
  return { scope, run, no, seq: expectedSeq + 1, hashes: changes.cites };
}

async function refusedBirth(tx: Tx, prepared: PreparedCommit): Promise<Outcome<CommitAnswer> | undefined> {
  try {
    await checkBirth(tx, prepared);
    return undefined;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return { error };
  }
}

function takenOf(prepared: PreparedCommit, row: CommitRow | undefined): readonly TakenCommit[] {
  if (!row || row.no === null || row.time === null) return [];
  const { no, thread, time: at } = row;
  return [{ ...prepared, no, thread, at }];
}

async function outcomeOf(tx: Tx, commit: Commit, row: CommitRow | undefined): Promise<Outcome<CommitAnswer>> {
  if (row && row.time !== null) return { answer: { kind: "committed", at: row.time } };
  try {
    const answer = await refusalOf(tx, commit, row);
    if (answer) return { answer };
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return { error };
  }
  return { error: row?.status === "done" ? afterTheEnd(commit.run) : emptyCommit(commit.run) };
}

async function refusalOf(
  tx: Queries,
  expected: Expectation,
  row: Pick<CommitRow, "no" | "epoch" | "head"> | undefined,
): Promise<CommitAnswer | undefined> {
  if (!row || row.no === null || row.epoch !== expected.epoch) return { kind: "fenced" };
  const { scope, run, expectedSeq } = expected;
  if (expectedSeq > row.head) throw journalRegressed(expected, row.head);
  if (expectedSeq === row.head) return undefined;
  return { kind: "behind", entries: await entriesAfter(tx, { scope, run, after: expectedSeq, limit: null }) };
}

const releaseLease = (wait: RowWait): string => `WITH held AS MATERIALIZED (
    SELECT no, epoch, head FROM hf.runs WHERE scope = $1 AND id = $2 FOR NO KEY UPDATE ${wait}
  ), freed AS (
    UPDATE hf.runs SET lease_until = NULL, wake = $5, crashes = 0 FROM held
    WHERE runs.no = held.no AND runs.epoch = $3 AND runs.head = $4 AND runs.status <> 'done'
  )
  SELECT no, epoch, head, ${storeTime("$6")} AS time FROM held`;

export function releaseJob(access: Access, release: Release): Job<CommitAnswer> {
  const { scope, run, epoch, expectedSeq, wake = null } = release;
  const values = (): readonly unknown[] => [scope, run, epoch, expectedSeq, wake, access.time()];
  const answerOf = async (db: Queries, row: ReleasedRow | undefined): Promise<CommitAnswer> =>
    (await refusalOf(db, release, row)) ?? { kind: "committed", at: row?.time ?? 0 };
  return {
    ...{ scope, keys: [keyOf(release)], bytes: 0, needs: { runs: [release] } },
    alone: async (db) => {
      const row = await db.get<ReleasedRow>(releaseLease("SKIP LOCKED"), values());
      return row && answerOf(db, row);
    },
    write: async (tx) => answerOf(tx, await tx.get<ReleasedRow>(releaseLease(""), values())),
  };
}

interface ReleasedRow {
  readonly no: number;
  readonly epoch: number;
  readonly head: number;
  readonly time: number;
}
