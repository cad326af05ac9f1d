/**
 * The outside door (S5, S6): one statement reads all that the guard needs, one writes all that follows, in a transaction
 * that holds the run's row. Tickets, inbox and post keys of a run change only under that lock.
 */
import { contentIn } from "../../domain/cites.ts";
import type { InputId, RunId } from "../../domain/ids.ts";
import type { RunStatus } from "../../domain/run.ts";
import type { SettlementRecord, TicketRecord } from "../../domain/ticket.ts";
import { entryFormat } from "../../domain/upcast.ts";
import type { Post, PostAnswer } from "../../ports/store.ts";
import { asksToCancel, guardPost, type InboxInput, type PostSubject } from "../shared/post-guard.ts";
import { type Access, storeTime, type Tx } from "./access.ts";
import { citeContent } from "./content.ts";
import { TryAgain } from "./failures.ts";
import { type Job, keyOf } from "./jobs.ts";
import { bodyOf } from "./journal.ts";
import { settlementOf } from "./ticket-rows.ts";

export function postJob(access: Access, post: Post): Job<PostAnswer> {
  const body = bodyOf([post.fact]);
  return {
    scope: post.scope,
    keys: [keyOf(post), ...(post.start ? [`start\n${post.scope}\n${post.start.key}`] : [])],
    bytes: body.length,
    needs: { runs: [post] },
    write: (tx) => writePost(tx, access, { post, body }),
  };
}

interface Subject {
  readonly now: number;
  readonly no: number | null;
  readonly status: RunStatus;
  readonly head: number;
  readonly cancel_seq: number | null;
  readonly started_run: RunId | null;
  readonly started_hash: string;
  readonly key_seq: number | null;
  readonly key_time: number;
  readonly key_settlement: string | null;
  readonly record: string | null;
  readonly settlement: string | null;
  readonly input_seq: number | null;
  readonly input_taken: boolean;
  readonly input_withdrawn: number | null;
  readonly input_replaced: boolean;
  readonly replaced_seq: number | null;
  readonly replaced_taken: boolean;
  readonly replaced_withdrawn: number | null;
  readonly unread: number;
}

const findSubject = `SELECT ${storeTime("$8")} AS now, run.no, run.status, run.head, run.cancel_seq,
    started.run AS started_run, started.request_hash AS started_hash,
    first.seq AS key_seq, first.time AS key_time, first_ticket.settlement AS key_settlement,
    ticket.record, ticket.settlement,
    input.seq AS input_seq, input.taken AS input_taken, input.withdrawn_seq AS input_withdrawn, input.replaced AS input_replaced,
    replaced.seq AS replaced_seq, replaced.taken AS replaced_taken, replaced.withdrawn_seq AS replaced_withdrawn,
    CASE WHEN $6::text IS NULL THEN 0 ELSE
      (SELECT count(*) FROM hf.inbox WHERE inbox.run = run.no AND NOT taken AND withdrawn_seq IS NULL) END AS unread
  FROM (SELECT 1) AS one
    LEFT JOIN hf.runs AS run ON run.scope = $1 AND run.id = $2
    LEFT JOIN hf.start_keys AS started ON started.scope = $1 AND started.key = $4
    LEFT JOIN hf.post_keys AS first ON first.run = run.no AND first.key = $3
    LEFT JOIN hf.tickets AS first_ticket ON first_ticket.scope = $1 AND first_ticket.id = first.ticket
    LEFT JOIN hf.tickets AS ticket ON ticket.scope = $1 AND ticket.id = $5
    LEFT JOIN hf.inbox AS input ON input.run = run.no AND input.input = $6
    LEFT JOIN hf.inbox AS replaced ON replaced.run = run.no AND replaced.input = $7`;

interface Prepared {
  readonly post: Post;
  readonly body: string;
}

async function writePost(tx: Tx, access: Access, prepared: Prepared): Promise<PostAnswer> {
  const { post } = prepared;
  const { ticket, input, replaces } = namedIn(post);
  const values = [post.scope, post.run, post.key, post.start?.key ?? null, ticket, input, replaces, access.time()];
  const row = await tx.get<Subject>(findSubject, values);
  if (!row) throw new TryAgain("no answer");
  if (row.started_run !== null) {
    return { kind: "started", run: row.started_run, same: row.started_hash === post.start?.requestHash };
  }
  if (row.no === null) return { kind: "refused", code: "run-not-found" };
  if (row.key_seq !== null) return firstAnswer(row, row.key_seq);
  return guardPost(post, subjectOf(row), row.now) ?? insertFact(tx, row, prepared);
}

interface Named {
  readonly ticket: string | null;
  readonly input: InputId | null;
  readonly replaces: InputId | null;
}

/** What the fact is about. */
function namedIn({ fact }: Post): Named {
  const ticket = fact.type === "ticket-decided" ? fact.ticket : null;
  const input = fact.type === "input-received" || fact.type === "input-withdrawn" ? fact.input : null;
  const replaces = fact.type === "input-received" ? (fact.replaces ?? null) : null;
  return { ticket, input, replaces };
}

function firstAnswer(row: Subject, seq: number): PostAnswer {
  const settlement = row.key_settlement === null ? undefined : (JSON.parse(row.key_settlement) as SettlementRecord);
  return { kind: "posted", seq, at: row.key_time, ...(settlement ? { settlement } : {}) };
}

function subjectOf(row: Subject): PostSubject {
  const settlement = row.settlement === null ? {} : { settlement: JSON.parse(row.settlement) as SettlementRecord };
  const known = inputOf(row.input_seq, row.input_taken, row.input_withdrawn);
  const input = known && (row.input_replaced ? { ...known, replaced: true } : known);
  const replaced = inputOf(row.replaced_seq, row.replaced_taken, row.replaced_withdrawn);
  return {
    status: row.status,
    unread: row.unread,
    ...(row.cancel_seq === null ? {} : { cancelSeq: row.cancel_seq }),
    ...(row.record === null ? {} : { ticket: { ticket: JSON.parse(row.record) as TicketRecord, ...settlement } }),
    ...(input ? { input } : {}),
    ...(replaced ? { replaced } : {}),
  };
}

function inputOf(seq: number | null, taken: boolean, withdrawn: number | null): InboxInput | undefined {
  if (seq === null) return undefined;
  return { seq, taken, ...(withdrawn === null ? {} : { withdrawnSeq: withdrawn }) };
}

const insert = `WITH fact AS (
    INSERT INTO hf.journal (at, scope, run, seq, n, time, m, format, body)
    VALUES (nextval('hf.positions'), $1::text, $3::bigint, $5::bigint, 1, $6::bigint, 0, ${entryFormat}, $7)
  ), new_key AS (
    INSERT INTO hf.post_keys (run, key, seq, time, ticket, start_key)
    VALUES ($3::bigint, $4, $5::bigint, $6::bigint, $8::text, $12::text)
  ), new_start AS (
    INSERT INTO hf.start_keys (scope, key, run, request_hash)
    SELECT $1::text, $12::text, $2::text, $13::text WHERE $12::text IS NOT NULL
  ), received AS (
    INSERT INTO hf.inbox (run, input, seq, taken, replaced)
    SELECT $3::bigint, $10::text, $5::bigint, false, false WHERE $10::text IS NOT NULL
  ), withdrawn AS (
    UPDATE hf.inbox SET withdrawn_seq = $5::bigint, replaced = $10::text IS NOT NULL WHERE run = $3::bigint AND input = $11::text
  ), settled AS (
    UPDATE hf.tickets SET settlement = $9 WHERE scope = $1::text AND id = $8::text AND run = $3::bigint AND settlement IS NULL
  )
  UPDATE hf.runs SET head = $5::bigint, cancel_seq = coalesce(cancel_seq, $14::bigint),
    wake = CASE WHEN status <> 'created' OR $15::boolean THEN $6::bigint ELSE wake END
  WHERE no = $3::bigint AND head = $5::bigint - 1`;

async function insertFact(tx: Tx, row: Subject, { post, body }: Prepared): Promise<PostAnswer> {
  const { fact, scope, run, key, start } = post;
  const seq = row.head + 1;
  const at = row.now;
  const { ticket, input, replaces } = namedIn(post);
  const settlement = fact.type === "ticket-decided" ? settlementOf(fact, { seq, at }) : undefined;
  const received = fact.type === "input-received" ? input : null;
  const withdrawn = fact.type === "input-withdrawn" ? input : replaces;
  const settled = settlement ? JSON.stringify(settlement) : null;
  const cancelSeq = asksToCancel(fact) ? seq : null;
  const entry = [scope, run, row.no, key, seq, at, body, ticket, settled, received, withdrawn];
  const rest = [start?.key ?? null, start?.requestHash ?? null, cancelSeq, fact.type === "cancel-requested"];
  if ((await tx.run(insert, [...entry, ...rest])) !== 1) throw new TryAgain("the head has moved");
  if (row.no !== null) await citeContent(tx, [{ scope, run, no: row.no, seq, hashes: contentIn([fact]) }]);
  return { kind: "posted", seq, at, ...(settlement ? { settlement } : {}) };
}
