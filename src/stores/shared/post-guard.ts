/**
 * Whether a post may be written, judged on its subject's own state: one pure answer for every store.
 *
 * G1 A settled ticket answers with its settlement, whatever else has changed since: the loser of a race learns who won.
 * G2 A ticket takes an answer only for the hash it shows, from `decidableFrom` on and before `expiresAt`, by store time.
 * G3 Nothing is posted to a run that has ended.
 * G4 An edit takes the place of an input that is there and unread: it needs no room in the inbox.
 *    What it took the place of is there no more.
 * G5 A run that was asked to cancel takes no message, neither as an input nor, standing for a start, as an answer: it
 *    would end with the run.
 * G6 A ticket takes an answer only of its audience, and never of the agent that asks.
 */
import { mayAnswer } from "../../domain/approval.ts";
import type { InputReceived, OutsideFact } from "../../domain/entry.ts";
import type { RunStatus } from "../../domain/run.ts";
import { inboxLimit, type Post, type PostAnswer, type PostRefusal, type TicketRow } from "../../ports/store.ts";

export interface InboxInput {
  readonly seq: number;
  readonly taken: boolean;
  readonly withdrawnSeq?: number;
  /** An edit took its place, at `withdrawnSeq`. */
  readonly replaced?: boolean;
}

/** What the store holds about the post's subject; a part that the fact does not name is left out. */
export interface PostSubject {
  readonly status: RunStatus;
  /** Seq of the first request to cancel. */
  readonly cancelSeq?: number;
  readonly ticket?: TicketRow;
  readonly input?: InboxInput;
  /** The input that an edit takes the place of. */
  readonly replaced?: InboxInput;
  readonly unread: number;
}

/** Why nothing may be written; undefined when the fact may be appended. */
export function guardPost(post: Post, subject: PostSubject, now: number): PostAnswer | undefined {
  if (post.fact.type === "ticket-decided") return guardDecision(post, subject, now);
  if (subject.status === "done") return refuse("run-ended");
  return guardFact(post.fact, subject);
}

function guardDecision(post: Post, subject: PostSubject, now: number): PostAnswer | undefined {
  const { ticket, settlement } = subject.ticket ?? {};
  if (ticket?.run !== post.run) return refuse("ticket-not-found");
  if (settlement) return { kind: "settled", settlement };
  if (subject.status === "done" || (post.start && subject.cancelSeq !== undefined)) return refuse("run-ended");
  if (ticket.hash !== post.hash) return refuse("ticket-hash-mismatch");
  if (ticket.expiresAt !== undefined && now >= ticket.expiresAt) return refuse("ticket-expired");
  const { fact } = post;
  if (fact.type === "ticket-decided" && !mayAnswer(ticket, fact, now)) return refuse("answer-not-allowed"); // G6
  if (ticket.decidableFrom !== undefined && now < ticket.decidableFrom) {
    return { kind: "refused", code: "ticket-not-decidable", decidableFrom: ticket.decidableFrom };
  }
  return undefined;
}

function guardFact(
  fact: Exclude<OutsideFact, { type: "ticket-decided" }>,
  subject: PostSubject,
): PostAnswer | undefined {
  const { cancelSeq } = subject;
  switch (fact.type) {
    case "input-received":
      return guardInput(fact, subject);
    case "input-withdrawn":
      return guardWithdrawal(subject);
    case "cancel-requested":
      return cancelSeq === undefined ? undefined : { kind: "already", seq: cancelSeq };
    case "pause-requested":
      return undefined;
    default:
      return fact satisfies never;
  }
}

function guardInput({ replaces }: InputReceived, subject: PostSubject): PostAnswer | undefined {
  const { input, cancelSeq, unread } = subject;
  if (input) return { kind: "already", seq: input.seq };
  if (cancelSeq !== undefined) return refuse("run-ended");
  if (replaces !== undefined) return guardEdit(subject);
  return unread >= inboxLimit ? refuse("inbox-full") : undefined;
}

function guardWithdrawal({ input }: PostSubject): PostAnswer | undefined {
  if (!input || input.replaced) return refuse("input-not-found");
  if (input.withdrawnSeq !== undefined) return { kind: "already", seq: input.withdrawnSeq };
  return input.taken ? refuse("input-taken") : undefined;
}

/** One that was withdrawn is there no more, also when another edit took its place. */
function guardEdit({ replaced }: PostSubject): PostAnswer | undefined {
  if (!replaced || replaced.withdrawnSeq !== undefined) return refuse("input-not-found");
  return replaced.taken ? refuse("input-taken") : undefined;
}

/** A request to cancel, in its own name or as the answer to a ticket. */
export function asksToCancel(fact: OutsideFact): boolean {
  return fact.type === "cancel-requested" || (fact.type === "ticket-decided" && fact.decision.kind === "cancel-run");
}

function refuse(code: PostRefusal): PostAnswer {
  return { kind: "refused", code };
}
