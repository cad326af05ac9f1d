/**
 * One group of writes as one transaction, or one write alone as one statement.
 *
 * W1 Members are independent: a refusal is a member's own answer; a throw undoes the whole group.
 * W2 Nobody is answered before COMMIT has returned.
 * W3 After any throw the caches are dropped: they may know rows that were undone. Where the file was busy and nothing had
 *    begun, nothing was undone.
 */
import type { Logger } from "../../ports/logger.ts";
import type { CommitTally, Counted } from "../shared/commit-tally.ts";
import { applyFailed } from "../shared/refusals.ts";
import type { Connection } from "./database.ts";
import { type Failure, failureOf, isConstraint, type Phase } from "./failures.ts";

export interface Job<T> extends Counted {
  /** About how much it adds. */
  readonly bytes: number;
  /** The whole job as at most one writing statement; undefined when only `write` can tell the answer. */
  readonly alone?: () => T | undefined;
  /** Shares its transaction with no other. */
  readonly isLone?: boolean;
  /** The job inside a transaction. */
  readonly write: () => T;
}

/** How the verbs of an open store reach it. */
export interface Calls {
  write<T>(prepare: () => Job<T>): Promise<T>;
  read<T>(look: () => T): Promise<T>;
}

export interface Member {
  readonly job: Job<unknown>;
  readonly since: number;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

export interface GroupOptions {
  readonly path: string;
  readonly logger: Logger;
  readonly onUndone: () => void;
  readonly tally: CommitTally;
}

/** Answers every member, or none and the reason. */
export function writeGroup(db: Connection, group: readonly Member[], options: GroupOptions): Failure | undefined {
  let phase: Phase = "work";
  let hasBegun = true;
  try {
    // Left open by a rollback that failed: a statement alone would join it and never be committed.
    if (db.isInTransaction()) db.run("ROLLBACK");
    phase = "commit";
    if (writeAlone(group, options.tally)) return undefined;
    phase = "work";
    hasBegun = false;
    db.run("BEGIN IMMEDIATE");
    hasBegun = true;
    const answers = group.map((member) => member.job.write());
    phase = "commit";
    db.run("COMMIT");
    options.tally.add(jobsOf(group), answers);
    for (const [index, member] of group.entries()) member.resolve(answers[index]);
    return undefined;
  } catch (cause) {
    if (hasBegun) undo(db, options);
    if (isRefusedLate(cause, phase, group)) return { kind: "thrown", error: applyFailed("COMMIT refused it", cause) };
    return failureOf(cause, phase, options.path);
  }
}

/** Rows of the store's own are refused by the statement that writes them, never by COMMIT: these are a tool's. */
function isRefusedLate(cause: unknown, phase: Phase, [first]: readonly Member[]): boolean {
  return phase === "commit" && first?.job.isLone === true && isConstraint(cause);
}

function writeAlone([first, second]: readonly Member[], tally: CommitTally): boolean {
  if (!first?.job.alone || second) return false;
  const answer = first.job.alone();
  if (answer === undefined) return false;
  tally.add([first.job], [answer]);
  first.resolve(answer);
  return true;
}

function jobsOf(group: readonly Member[]): readonly Job<unknown>[] {
  return group.map(({ job }) => job);
}

/** A blind ROLLBACK would throw where SQLite has already rolled back, and hide the cause. */
function undo(db: Connection, { path, logger, onUndone }: GroupOptions): void {
  onUndone();
  try {
    if (db.isInTransaction()) db.run("ROLLBACK");
  } catch (cause) {
    logger.warn("A rollback failed; it is tried again before the next write", { path, cause });
  }
}
