/** The outside door: guard, entry, key, projections and wake in one transaction (S5, S6). */
import { contentIn } from "../../domain/cites.ts";
import type { InputReceived, OutsideFact } from "../../domain/entry.ts";
import type { RunStatus } from "../../domain/run.ts";
import type { Post, PostAnswer, TicketRow } from "../../ports/store.ts";
import { asksToCancel, guardPost, type InboxInput, type PostSubject } from "../shared/post-guard.ts";
import type { Access } from "./access.ts";
import { citeContent } from "./content.ts";
import type { Connection } from "./database.ts";
import type { Job } from "./group.ts";
import { bodyOf, entryAt, insertFact } from "./journal.ts";
import { findStart, recordStart } from "./start-keys.ts";
import { findTicket, settlementOf, settleTickets } from "./tickets.ts";

interface PostedRun {
  readonly no: number;
  readonly thread: number;
  readonly status: RunStatus;
  readonly queued: number;
  readonly cancel_seq: number | null;
  readonly head: number;
}

const findRun = `SELECT no, thread, status, queued, cancel_seq,
    (SELECT seq + n - 1 FROM journal WHERE thread = runs.thread AND run = runs.no ORDER BY seq DESC LIMIT 1) AS head
  FROM runs WHERE scope = ? AND id = ?`;

export function postJob(access: Access, post: Post): Job<PostAnswer> {
  const body = bodyOf([post.fact]);
  return { bytes: body.length, write: () => writePost(access, post, body) };
}

function writePost({ db, now }: Access, post: Post, body: string): PostAnswer {
  const started = post.start && findStart(db, post.scope, post.start.key);
  if (started) return { kind: "started", run: started.run, same: started.requestHash === post.start?.requestHash };
  const run = db.get<PostedRun>(findRun, post.scope, post.run);
  if (!run) return { kind: "refused", code: "run-not-found" };
  const first = firstAnswer(db, run, post);
  if (first) return first;
  const at = now();
  const refusal = guardPost(post, subjectOf(db, run, post), at);
  if (refusal) return refusal;
  const seq = run.head + 1;
  insertFact(db, run, { seq, time: at, body });
  citeContent(db, run, { scope: post.scope, run: post.run, seq, hashes: contentIn([post.fact]) });
  return project(db, run, { post, seq, at });
}

interface Posted {
  readonly post: Post;
  readonly seq: number;
  readonly at: number;
}

const wakeRun = `UPDATE runs SET wake = CASE WHEN status <> 'created' OR ?3 THEN ?2 ELSE wake END,
  cancel_seq = coalesce(cancel_seq, ?4) WHERE no = ?1`;

function project(db: Connection, run: PostedRun, { post, seq, at }: Posted): PostAnswer {
  const { fact, scope, key } = post;
  const ticket = fact.type === "ticket-decided" ? fact.ticket : null;
  const keyValues = [run.no, key, seq, at, ticket, post.start?.key ?? null] as const;
  db.run("INSERT INTO post_keys (run, key, seq, time, ticket, start_key) VALUES (?, ?, ?, ?, ?, ?)", ...keyValues);
  if (post.start) recordStart(db, post, post.start);
  changeInbox(db, run, { fact, seq });
  const cancelSeq = asksToCancel(fact) ? seq : null;
  db.run(wakeRun, run.no, at, fact.type === "cancel-requested" ? 1 : 0, cancelSeq);
  if (fact.type !== "ticket-decided") return { kind: "posted", seq, at };
  settleTickets(db, run, { scope, decided: [{ decided: fact, index: 0 }], firstSeq: seq, at });
  return { kind: "posted", seq, at, settlement: settlementOf(fact, { seq, at }) };
}

function changeInbox(
  db: Connection,
  run: PostedRun,
  { fact, seq }: { readonly fact: OutsideFact; readonly seq: number },
): void {
  const withdraw = "UPDATE inbox SET withdrawn_seq = ? WHERE run = ? AND input = ?";
  if (fact.type === "input-withdrawn") db.run(withdraw, seq, run.no, fact.input);
  if (fact.type !== "input-received") return;
  db.run("INSERT INTO inbox (run, input, seq, taken) VALUES (?, ?, ?, 0)", run.no, fact.input, seq);
  if (fact.replaces !== undefined) db.run(withdraw, seq, run.no, fact.replaces);
}

interface PostKey {
  readonly seq: number;
  readonly time: number;
  readonly ticket: string | null;
}

function firstAnswer(db: Connection, run: PostedRun, post: Post): PostAnswer | undefined {
  const first = db.get<PostKey>("SELECT seq, time, ticket FROM post_keys WHERE run = ? AND key = ?", run.no, post.key);
  if (!first) return undefined;
  const settlement = first.ticket === null ? undefined : findTicket(db, post.scope, first.ticket)?.settlement;
  return { kind: "posted", seq: first.seq, at: first.time, ...(settlement ? { settlement } : {}) };
}

function subjectOf(db: Connection, run: PostedRun, { fact, scope }: Post): PostSubject {
  const common = { status: run.status, unread: 0, ...(run.cancel_seq === null ? {} : { cancelSeq: run.cancel_seq }) };
  switch (fact.type) {
    case "ticket-decided":
      return { ...common, ...present("ticket", findTicket(db, scope, fact.ticket)) };
    case "input-received":
      return { ...common, ...inputSubject(db, run, fact) };
    case "input-withdrawn":
      return { ...common, ...present("input", inputOf(db, run, fact.input)) };
    default:
      return common;
  }
}

function inputSubject(
  db: Connection,
  run: PostedRun,
  { input, replaces }: InputReceived,
): Pick<PostSubject, "unread" | "input" | "replaced"> {
  const replaced = replaces === undefined ? undefined : inputOf(db, run, replaces);
  return {
    unread: unreadOf(db, run),
    ...present("input", inputOf(db, run, input)),
    ...present("replaced", replaced),
  };
}

function present<Name extends "ticket" | "input" | "replaced", Value extends TicketRow | InboxInput>(
  name: Name,
  value: Value | undefined,
): { readonly [Key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [Key in Name]?: Value });
}

function unreadOf(db: Connection, run: PostedRun): number {
  const sql = `SELECT count(*) AS unread FROM inbox INDEXED BY inbox_unread
    WHERE run = ? AND taken = 0 AND withdrawn_seq IS NULL`;
  return db.get<{ unread: number }>(sql, run.no)?.unread ?? 0;
}

function inputOf(db: Connection, run: PostedRun, input: string): InboxInput | undefined {
  const sql = "SELECT seq, taken, withdrawn_seq FROM inbox WHERE run = ? AND input = ?";
  const row = db.get<{ seq: number; taken: number; withdrawn_seq: number | null }>(sql, run.no, input);
  if (!row) return undefined;
  const { seq, withdrawn_seq: withdrawnSeq } = row;
  if (withdrawnSeq === null) return { seq, taken: row.taken === 1 };
  const replaced = entryAt(db, run, withdrawnSeq)?.type === "input-received";
  return { seq, taken: row.taken === 1, withdrawnSeq, replaced };
}
