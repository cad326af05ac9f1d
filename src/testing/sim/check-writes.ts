/** Transition checks on calls: what the store answered, and what it did to the run's row, against the row before. */
import type { EffectSettled, Entry, EntryBody } from "../../domain/entry.ts";
import type { TicketRecord } from "../../domain/ticket.ts";
import type {
  Claim,
  ClaimRequest,
  Commit,
  CommitAnswer,
  Post,
  PostAnswer,
  Release,
  RenewAnswer,
  Renewal,
  RunRow,
} from "../../ports/store.ts";
import type { Report } from "./violations.ts";
import type { WatchedRun } from "./watch.ts";

/** One write as the checks see it. */
export interface Write {
  readonly before: RunRow;
  readonly after: RunRow;
  readonly added: readonly Entry[];
  readonly run: WatchedRun;
  readonly now: number;
  readonly report: Report;
}

export function checkCommit(commit: Commit, answer: CommitAnswer | undefined, write: Write): void {
  const { run, before, after, added, report } = write;
  const what = `commit of ${commit.run} at epoch ${commit.epoch} after ${commit.expectedSeq}`;
  checkDoor(commit, answer, write);
  const written = answer?.kind === "committed" ? commit.entries.length : 0;
  if (added.length !== written) report("written-as-answered", `${what}: ${answer?.kind}, ${added.length} entries`);
  if (answer?.kind === "fenced") run.late.push(...commit.entries.filter(isToolResult));
  if (answer?.kind !== "committed") return checkUntouched(what, write);
  const crashes = commit.entries.some(isProgress) ? 0 : before.crashes;
  if (after.crashes !== crashes) report("crash-count", `${what}: ${before.crashes} became ${after.crashes}`);
  const wake = after.status === "done" ? undefined : commit.entries.some(movesStatus) ? commit.wake : before.wake;
  if (after.wake !== wake) report("wake-set-at-head", `${what}: wake is ${after.wake}, not ${wake}`);
  const holds = after.status === "running" || after.status === "created";
  if (!holds && after.leaseUntil !== undefined) report("lease", `${what}: ${after.status} and leased`);
}

export function checkRelease(release: Release, answer: CommitAnswer | undefined, write: Write): void {
  const { after, added, report } = write;
  const what = `release of ${release.run} at epoch ${release.epoch}`;
  checkDoor(release, answer, write);
  if (added.length > 0) report("written-as-answered", `${what} wrote entries`);
  if (answer?.kind !== "committed") return checkUntouched(what, write);
  if (after.status === "done") return;
  if (after.leaseUntil !== undefined) report("lease", `${what}: still leased`);
  if (after.crashes !== 0) report("crash-count", `${what}: ${after.crashes} crashes`);
  if (after.wake !== release.wake) report("wake-set-at-head", `${what}: wake is ${after.wake}, not ${release.wake}`);
}

/** Exactly three answers, each true. */
function checkDoor(asked: Release, answer: CommitAnswer | undefined, { before, report }: Write): void {
  const what = `${asked.run}: epoch ${asked.epoch} of ${before.epoch}, after ${asked.expectedSeq} of ${before.head}`;
  const mine = asked.epoch === before.epoch;
  switch (answer?.kind) {
    case "committed":
      if (!mine) report("stale-epoch", `${what} was committed`);
      if (asked.expectedSeq !== before.head) report("commit-below-head", `${what} was committed`);
      return;
    case "fenced":
      if (mine) report("fenced-truth", `${what} was fenced`);
      return;
    case "behind":
      if (!mine || answer.entries.length !== before.head - asked.expectedSeq) {
        report("behind-truth", `${what} was behind by ${answer.entries.length}`);
      }
      return;
    default:
      return;
  }
}

function checkUntouched(what: string, { before, after, report }: Write): void {
  const changed = (["status", "epoch", "head", "crashes", "leaseUntil", "wake", "queued"] as const).filter(
    (field) => before[field] !== after[field],
  );
  if (changed.length > 0) report("written-as-answered", `${what} was refused and changed ${changed.join(", ")}`);
}

export function checkPost(post: Post, answer: PostAnswer | undefined, write: Write): void {
  const { run, before, after, added, now, report } = write;
  const what = `post of ${post.fact.type} to ${post.run}`;
  const repeated = run.postKeys.has(post.key);
  const expected = answer?.kind === "posted" && !repeated ? 1 : 0;
  if (added.length !== expected) report("written-as-answered", `${what}: ${answer?.kind}, ${added.length} entries`);
  if (expected === 0) return checkUntouched(what, write);
  run.postKeys.add(post.key);
  if (after.crashes !== before.crashes) report("crash-count", `${what} changed the count`);
  const wakes = before.status !== "created" || post.fact.type === "cancel-requested";
  const wake = wakes ? now : before.wake;
  if (after.wake !== wake) report("wake-set-at-head", `${what} set wake to ${after.wake}, not ${wake}`);
  if (post.fact.type === "ticket-decided") checkGuard(post, run.tickets.get(post.fact.ticket)?.ticket, write);
}

function checkGuard(post: Post, ticket: TicketRecord | undefined, { now, report }: Write): void {
  const what = `answer to ${ticket?.id}`;
  if (ticket?.hash !== post.hash) report("ticket-guard", `${what} with another hash than it shows`);
  if (ticket?.expiresAt !== undefined && now >= ticket.expiresAt) report("ticket-guard", `${what} after it expired`);
  if (ticket?.decidableFrom !== undefined && now < ticket.decidableFrom) report("ticket-guard", `${what} too early`);
}

export function checkClaim(request: ClaimRequest, claim: Claim, write: Write): void {
  const { run, before, after, now, report } = write;
  const what = `claim of ${claim.run} at epoch ${claim.epoch}`;
  if (after.wake !== before.wake) report("wake-left-by-claim", `${what}: wake ${before.wake} became ${after.wake}`);
  if (claim.epoch !== after.epoch || claim.crashes !== after.crashes) report("lease", `${what} says something else`);
  if (request.again && after.epoch === before.epoch) return;
  if (after.epoch !== before.epoch + 1) report("lease", `${what}: epoch was ${before.epoch}`);
  if (after.crashes !== before.crashes + 1) {
    report("crash-count", `${what}: crashes were ${before.crashes} and are ${after.crashes}`);
  }
  if (before.leaseUntil !== undefined && before.leaseUntil > now) report("lease", `${what}: held by another`);
  const mayEnd = run.cancelSeq !== undefined || (run.state.created.deadlineAt ?? now + 1) <= now;
  if (before.queued && (claim.mayStart || !mayEnd)) report("one-active-run", `${what}: it is queued`);
  const due = before.status === "created" || before.status === "running" || (before.wake ?? now + 1) <= now;
  if (!due || before.status === "done") report("lease", `${what}: ${before.status} and not due`);
}

export function checkRenew(renewal: Renewal, answer: RenewAnswer | undefined, { before, report }: Write): void {
  const mine = renewal.epoch === before.epoch && before.leaseUntil !== undefined;
  const what = `renewal of ${renewal.run} at epoch ${renewal.epoch} of ${before.epoch}`;
  if (answer?.kind === "renewed" && !mine) report("stale-epoch", `${what} was answered`);
  if (answer?.kind === "fenced" && mine) report("fenced-truth", `${what} was fenced`);
}

/** The law (DESIGN, Crashes), told again here so that the store's own reading of it can be wrong. */
function isProgress(entry: EntryBody): boolean {
  if (entry.type === "run-waiting" || entry.type === "run-ended") return true;
  return entry.type === "effect-settled" && entry.result.kind !== "lost" && entry.result.kind !== "not-made";
}

function movesStatus({ type }: EntryBody): boolean {
  return type === "run-started" || type === "run-resumed" || type === "run-waiting" || type === "run-ended";
}

/** Only code that ran brings these; the engine itself closes attempts in other ways. */
function isToolResult(entry: EntryBody): entry is EffectSettled {
  if (entry.type !== "effect-settled" || entry.effect.endsWith(".model")) return false;
  return entry.result.kind === "done" || entry.result.kind === "refused";
}
