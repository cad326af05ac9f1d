/** Checks once everything has come to rest: liveness, and what people were told against what the journal says. */
import { foldAll } from "../../domain/apply.ts";
import type { CallId, InputId } from "../../domain/ids.ts";
import type { CallResult } from "../../domain/message.ts";
import type { Decision, TicketCall } from "../../domain/ticket.ts";
import { loadState } from "../../engine/load.ts";
import type { Store } from "../../ports/store.ts";
import type { PeopleLog } from "./people.ts";
import type { Plan } from "./plan.ts";
import type { Report } from "./violations.ts";
import { successorOf, type Watch, type WatchedRun, type WatchedTicket } from "./watch.ts";

export interface Outcome {
  readonly plan: Plan;
  readonly watch: Watch;
  readonly log: PeopleLog;
  readonly store: Store;
  readonly report: Report;
}

/** Ended, or waiting for nothing but people; a run behind such a one in its thread's queue has to wait too. */
export function isSettled(run: WatchedRun, watch: Watch): boolean {
  const { status, wake, queued, thread } = run.row;
  if (status === "done") return true;
  if (status === "waiting") return wake === undefined && openTickets(run).length > 0;
  if (!queued || run.cancelSeq !== undefined || wake !== undefined) return false; // it ends at its deadline
  return [...watch.runs.values()].some((each) => each.row.thread === thread && each.row.status === "waiting");
}

export function openTickets(run: WatchedRun): readonly WatchedTicket[] {
  return [...run.tickets.values()].filter(({ decided }) => !decided);
}

export async function checkOutcome(outcome: Outcome): Promise<void> {
  const { watch, log, report } = outcome;
  for (const run of watch.runs.values()) {
    checkRest(run, outcome);
    checkDecisions(run, report);
    await checkRows(run, outcome);
    await checkLate(run, outcome);
  }
  checkInputs(outcome);
  checkTold(outcome);
  for (const { run, result } of log.results) {
    const known = watch.runs.get(run)?.state.outcome?.kind;
    if (known !== result.outcome) report("result-told", `${run}: told ${result.outcome}, the journal says ${known}`);
  }
}

function checkRest(run: WatchedRun, { watch, plan, report }: Outcome): void {
  const { status, leaseUntil, wake } = run.row;
  const kinds = openTickets(run).map(({ ticket }) => ticket.kind);
  const where = `${run.key.run} is ${status}, wake ${wake}, tickets ${kinds.join(", ") || "none"}`;
  if (!isSettled(run, watch)) report("liveness", `${where} and does not move`);
  // Quarantine stops everything, timers too: they elapse once somebody has let the run go on.
  if (kinds.includes("timer") && !kinds.includes("quarantined")) report("liveness", `${where}: a timer is forgotten`);
  if (plan.people.helpful && status !== "done") report("liveness", `${where} though every ticket was answered`);
  if (leaseUntil !== undefined) report("lease", `${where}: leased and nobody works on it`);
}

/** What was decided is what the call's one result says. */
function checkDecisions(run: WatchedRun, report: Report): void {
  if (run.row.status !== "done") return;
  for (const { ticket, decided } of run.tickets.values()) {
    if (!ticket.call || !decided) continue;
    const wanted = wantedResult(ticket.call, decided.decision);
    const result = resultOf(run, ticket.call.id);
    const given = result?.kind === "error" ? result.code : JSON.stringify(result?.value);
    if (wanted !== undefined && wanted !== given) {
      report("decision-obeyed", `${ticket.id}: ${decided.decision.kind}, but the result is ${JSON.stringify(result)}`);
    }
  }
}

/** The error's code or the value as text; undefined when the decision does not settle it. */
function wantedResult(call: TicketCall, decision: Decision): string | undefined {
  switch (decision.kind) {
    case "reject":
      return "rejected";
    case "mark-failed":
      return "marked-failed";
    case "mark-done":
      return JSON.stringify(decision.result);
    case "answer":
      return call.resume === "pass-decision-to-tool" ? undefined : JSON.stringify(decision.value);
    default:
      return undefined;
  }
}

function resultOf(run: WatchedRun, call: CallId): CallResult | undefined {
  for (const entry of run.entries) {
    if (entry.type !== "message-appended" || entry.body.kind !== "here") continue;
    for (const part of entry.body.message.parts)
      if (part.type === "tool-result" && part.call === call) return part.result;
  }
  return undefined;
}

async function checkRows(run: WatchedRun, { store, report }: Outcome): Promise<void> {
  const whole = foldAll(run.entries);
  const { state } = await loadState(run.key, store);
  if (JSON.stringify(sorted(whole)) !== JSON.stringify(sorted(state))) {
    report("snapshot-fold", `${run.key.run}: ${JSON.stringify(whole)} is not ${JSON.stringify(state)}`);
  }
  const rows = await store.tickets({ scope: run.key.scope, run: run.key.run, limit: 10_000 });
  for (const { ticket, settlement } of rows) {
    const known = run.tickets.get(ticket.id);
    if (!known || known.decided?.seq !== settlement?.seq) report("rows-follow-journal", `ticket ${ticket.id}`);
  }
  if (rows.length !== run.tickets.size) report("rows-follow-journal", `${run.key.run} has ${rows.length} tickets`);
}

/** What a fenced worker knew is kept as evidence; a crash or a store that fails may still lose it. */
async function checkLate(run: WatchedRun, { plan, store, report }: Outcome): Promise<void> {
  const { faults } = plan;
  if (faults["crash-before"] + faults["crash-after"] + faults.error + faults["commit-unknown"] > 0) return;
  const kept = (await store.evidence(run.key)).map(({ body }) => body as { effect?: string; attempt?: number });
  for (const { effect, attempt, result } of run.late) {
    const known = kept.some((each) => each.effect === effect && each.attempt === attempt);
    if (!known) report("late-result-kept", `${effect}#${attempt}, ${result.kind}, came too late and is forgotten`);
  }
}

/** An accepted input of an ended run is read by it, or withdrawn, or left to its successor, or ends with a cancel: one of these. */
function checkInputs({ log, watch, report }: Outcome): void {
  for (const { run, input, withdrawn } of log.inputs) {
    const known = watch.runs.get(run);
    if (!known) continue;
    const ways = [...waysOf(known, input, watch), ...(withdrawn ? ["withdrawn"] : [])];
    const isOpen = known.row.status !== "done" && ways.length === 0;
    if (ways.length !== 1 && !isOpen) report("inputs-once", `${run}: input ${input} is ${ways.join(", ") || "lost"}`);
  }
}

function waysOf(run: WatchedRun, input: InputId, watch: Watch): readonly string[] {
  const received = run.entries.find((entry) => entry.type === "input-received" && entry.input === input);
  const message = received?.type === "input-received" ? received.message.id : undefined;
  const left = successorOf(run, watch)?.state.created.request.inputIds.filter((id) => id === message) ?? [];
  const last = run.entries.at(-1);
  const ended =
    last?.type === "run-ended" && (run.cancelSeq !== undefined || run.state.startedAt === undefined)
      ? (last.unread ?? [])
      : [];
  return [
    ...Array.from({ length: run.takenInputs.get(input) ?? 0 }, () => "read"),
    ...left.map(() => "left to a successor"),
    ...ended.filter((id) => id === input).map(() => "unread at the end"),
  ];
}

/** L5: one settlement, everyone is told the same, at most one of them "mine". */
function checkTold({ log, watch, report }: Outcome): void {
  const tickets = new Map([...watch.runs.values()].flatMap((run) => [...run.tickets]));
  const winners = new Map<string, string>();
  for (const { ticket, by, settlement } of log.told) {
    const { decided } = [...tickets].find(([id]) => id === ticket)?.[1] ?? {};
    const same =
      decided?.by === settlement.by && JSON.stringify(decided.decision) === JSON.stringify(settlement.decision);
    if (!same) report("settlement-shared", `${by} was told ${JSON.stringify(settlement)} of ${ticket}`);
    if (!settlement.mine) continue;
    if (winners.has(ticket)) report("settlement-shared", `${ticket} was won by ${winners.get(ticket)} and ${by}`);
    if (settlement.by !== by) report("settlement-shared", `${by} was told that ${settlement.by}'s answer was his`);
    winners.set(ticket, by);
  }
}

/** A snapshot has been through JSON; keys may stand in another order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, field]) => [key, sorted(field)]));
}
