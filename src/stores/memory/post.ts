/** The outside door of the memory store: guard, append and projections in one synchronous go (S5, S6). */
import { contentIn } from "../../domain/cites.ts";
import type { InputId } from "../../domain/ids.ts";
import type { Post, PostAnswer, TicketRow } from "../../ports/store.ts";
import { asksToCancel, guardPost, type InboxInput, type PostSubject } from "../shared/post-guard.ts";
import { checkCites } from "./content.ts";
import { append, type MemoryRun, type MemoryTicket, reschedule, type ScopeData } from "./data.ts";

export function post(scope: ScopeData, wanted: Post, now: number): PostAnswer {
  const started = wanted.start && scope.starts.get(wanted.start.key);
  if (started) return { kind: "started", run: started.run, same: started.requestHash === wanted.start?.requestHash };
  const run = scope.runs.get(wanted.run);
  if (!run) return { kind: "refused", code: "run-not-found" };
  const first = run.posts.get(wanted.key);
  if (first) return first;
  const refusal = guardPost(wanted, subjectOf(scope, run, wanted), now);
  if (refusal) return refusal;
  const cites = contentIn([wanted.fact]);
  checkCites(scope, wanted.run, cites);
  for (const hash of cites) run.cites.add(hash);
  const seq = append(scope, run, { bodies: [wanted.fact], at: now, epoch: null });
  const answer: PostAnswer = { kind: "posted", seq, at: now, ...settle(scope, wanted, { seq, at: now }) };
  changeInbox(run, wanted, seq);
  if (asksToCancel(wanted.fact)) run.cancelSeq ??= seq;
  if (run.status !== "created" || wanted.fact.type === "cancel-requested") run.wake = now;
  run.posts.set(wanted.key, answer);
  if (wanted.start) recordStart(scope, run, wanted.start);
  reschedule(scope, run);
  return answer;
}

/** A start key belongs to one run, which takes it along when it is erased. */
export function recordStart(scope: ScopeData, run: MemoryRun, start: NonNullable<Post["start"]>): void {
  scope.starts.set(start.key, { run: run.id, requestHash: start.requestHash });
  run.startKeys.push(start.key);
}

function subjectOf(scope: ScopeData, run: MemoryRun, { fact }: Post): PostSubject {
  const ticket = fact.type === "ticket-decided" ? scope.tickets.get(fact.ticket) : undefined;
  const input =
    fact.type === "input-received" || fact.type === "input-withdrawn" ? run.inputs.get(fact.input) : undefined;
  const replaced =
    fact.type === "input-received" && fact.replaces !== undefined ? run.inputs.get(fact.replaces) : undefined;
  return {
    status: run.status,
    unread: run.unread,
    ...(run.cancelSeq === undefined ? {} : { cancelSeq: run.cancelSeq }),
    ...(ticket ? { ticket: ticketRow(ticket) } : {}),
    ...(input ? { input } : {}),
    ...(replaced ? { replaced } : {}),
  };
}

export function ticketRow(row: MemoryTicket): TicketRow {
  return row.settlement ? { ticket: row.ticket, settlement: row.settlement } : { ticket: row.ticket };
}

function settle(
  scope: ScopeData,
  { fact }: Post,
  place: { readonly seq: number; readonly at: number },
): Pick<TicketRow, "settlement"> {
  const row = fact.type === "ticket-decided" ? scope.tickets.get(fact.ticket) : undefined;
  if (fact.type !== "ticket-decided" || !row) return {};
  const { ticket, decision, by, key } = fact;
  const settlement = { ticket, decision, by, at: place.at, key, seq: place.seq };
  row.settlement = settlement;
  scope.openTickets.delete(row);
  return { settlement };
}

function changeInbox(run: MemoryRun, { fact }: Post, seq: number): void {
  if (fact.type === "input-received") {
    run.inputs.set(fact.input, { seq, taken: false });
    run.unread += 1;
    if (fact.replaces !== undefined) withdraw(run, fact.replaces, { withdrawnSeq: seq, replaced: true });
  }
  if (fact.type === "input-withdrawn") withdraw(run, fact.input, { withdrawnSeq: seq });
}

function withdraw(run: MemoryRun, input: InputId, how: Pick<InboxInput, "withdrawnSeq" | "replaced">): void {
  const known = run.inputs.get(input);
  if (!known) return;
  run.inputs.set(input, { ...known, ...how });
  run.unread -= 1;
}
