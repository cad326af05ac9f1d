/**
 * One group of writes as one transaction; simple commits, or one write alone, as one statement.
 *
 * W1 Members are independent: a refusal is a member's own answer; a throw undoes the whole group.
 * W2 Nobody is answered before the server has acknowledged the COMMIT.
 * W3 Members are written in the order they were asked for; the rows they need are locked before the first of them, in
 *    lock order.
 */
import { isHoldfastError } from "../../domain/errors.ts";
import type { CommitAnswer } from "../../ports/store.ts";
import type { Access, Tx } from "./access.ts";
import { isSimple, type Outcome, writeCommits, writeSimple } from "./commits.ts";
import type { Database, Session } from "./database.ts";
import { type Failure, failureOf, isLost, isStale, type Phase, TryAgain } from "./failures.ts";
import type { Job } from "./jobs.ts";
import { lockRows } from "./locks.ts";
import { announcement } from "./positions.ts";
import { refusedByCommit, takeBack } from "./transactions.ts";

export interface Member {
  readonly job: Job<unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

/** A process that was cut off in the middle of a transaction gives its rows back after so long. */
const idlePatienceMs = 10_000;

function begin(schema: string, lockPatienceMs: number): string {
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${lockPatienceMs};
    SET LOCAL idle_in_transaction_session_timeout = ${idlePatienceMs}; SELECT ${announcement(schema)}`;
}

export interface Group {
  readonly members: readonly Member[];
  /** How long a row that someone else holds is waited for. */
  readonly lockPatienceMs: number;
}

export interface GroupEnd {
  /** Members that have no answer yet. */
  readonly left: readonly Member[];
  readonly failure: Failure | undefined;
}

/** Answers members, or says why it could not. */
export async function writeGroup(db: Database, access: Access, group: Group): Promise<GroupEnd> {
  let phase: Phase = "work";
  let left = group.members;
  let session: Session | undefined;
  try {
    session = await db.connect();
    phase = "commit";
    left = await writeAtOnce(session, access, left);
    phase = "work";
    if (left.length > 0) {
      const outcomes = await writeTogether(session, access, { ...group, members: left });
      phase = "commit";
      const command = await session.script("COMMIT").catch((cause: unknown) => {
        throw left[0]?.job.isLone ? refusedByCommit(cause) : cause;
      });
      if (command !== "COMMIT") throw new TryAgain(`The server answered ${command} to COMMIT`);
      access.tally.add(jobsOf(left), outcomes.map(answerIn));
      for (const [index, member] of left.entries()) settle(member, outcomes[index]);
    }
    await giveBack(session, group);
    return { left: [], failure: undefined };
  } catch (cause) {
    await undo(session, cause, group);
    if (!session && isHoldfastError(cause)) return { left, failure: { kind: "lost", error: cause } };
    return { left, failure: failureOf(cause, phase, db.name) };
  }
}

function settle(member: Member, outcome: Outcome | undefined): void {
  if (outcome && "answer" in outcome) member.resolve(outcome.answer);
  else member.reject(outcome?.error);
}

function answerIn(outcome: Outcome): unknown {
  return "answer" in outcome ? outcome.answer : undefined;
}

function jobsOf(members: readonly Member[]): readonly Job<unknown>[] {
  return members.map(({ job }) => job);
}

/** What one statement can do. Answers the members whose answer only a transaction can tell. */
async function writeAtOnce(session: Session, access: Access, group: readonly Member[]): Promise<readonly Member[]> {
  const [first, second] = group;
  if (first?.job.alone && !second) {
    const answer = await first.job.alone(session);
    if (answer === undefined) return group;
    first.resolve(answer);
    return [];
  }
  const commits = group.flatMap(({ job }) => (job.commit && isSimple(job.commit) ? [job.commit] : []));
  if (commits.length < group.length || segmentsOf(group).length > 1) return group;
  const answers = await writeSimple(session, access, commits);
  access.tally.add(jobsOf(group), answers);
  return group.filter((member, index) => {
    const answer: CommitAnswer | undefined = answers[index];
    if (answer) member.resolve(answer);
    return answer === undefined;
  });
}

async function writeTogether(session: Session, access: Access, group: Group): Promise<readonly Outcome[]> {
  const { members, lockPatienceMs } = group;
  await session.script(begin(access.schema, lockPatienceMs));
  const needs = members.map(({ job }) => job.needs);
  const tx = await lockRows(session, needs);
  const outcomes: Outcome[] = [];
  for (const segment of segmentsOf(members)) outcomes.push(...(await writeSegment(tx, access, segment)));
  return outcomes;
}

async function writeSegment(tx: Tx, access: Access, segment: readonly Member[]): Promise<readonly Outcome[]> {
  const commits = segment.flatMap(({ job }) => job.commit ?? []);
  if (commits.length > 0) return writeCommits(tx, access, commits);
  const outcomes: Outcome[] = [];
  for (const { job } of segment) outcomes.push({ answer: await job.write(tx) });
  return outcomes;
}

/** Neighbours that are commits of different runs go together; everything else, and what bears a successor, stands alone. */
function segmentsOf(group: readonly Member[]): readonly (readonly Member[])[] {
  const segments: Member[][] = [];
  let runs = new Set<string>();
  for (const member of group) {
    const { commit, keys } = member.job;
    const run = commit && !commit.commit.successor ? (keys[0] ?? "") : "";
    if (run !== "" && runs.size > 0 && !runs.has(run)) segments.at(-1)?.push(member);
    else {
      segments.push([member]);
      runs = new Set();
    }
    if (run !== "") runs.add(run);
  }
  return segments;
}

/** A session on which something was lost is thrown away: the server undoes what it had begun. */
async function undo(session: Session | undefined, cause: unknown, group: Group): Promise<void> {
  if (!session) return;
  if (isLost(cause) || isStale(cause)) return session.release(true);
  try {
    await session.script("ROLLBACK");
    await giveBack(session, group);
  } catch {
    session.release(true);
  }
}

/** What a tool may have left on the session is taken back first. */
async function giveBack(session: Session, { members }: Group): Promise<void> {
  try {
    if (members.some(({ job }) => job.isLone)) await session.script(takeBack);
    session.release(false);
  } catch {
    session.release(true);
  }
}
