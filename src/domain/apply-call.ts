/** The part of `apply` that moves tool calls: verdicts, attempts, tickets, decisions, results. */

import { blocked, noteDecision, stopWith } from "./apply-plugins.ts";
import { decideRemote, isRemoteTicket, noteRemoteTicket } from "./apply-remote.ts";
import { type EffectEntry, keepChildBooks, nextEffect, stepOf } from "./apply-step.ts";
import { beginTask, endTask, handleOf } from "./background.ts";
import { resultOfChild } from "./child-result.ts";
import type { CallGated, Entry, EntryStamp, Settled, TicketDecided, TicketOpened, Verdict } from "./entry.ts";
import { HoldfastError } from "./errors.ts";
import type { CallId } from "./ids.ts";
import type { JsonValue } from "./json.ts";
import type { CallErrorCode, CallInput, CallResult, ToolCallPart } from "./message.ts";
import type { CallState, EffectState, RunState } from "./run-state.ts";
import { type ChildEnded, type Decision, type DecisionKind, type TicketRecord, verbsOf } from "./ticket.ts";

export function openCalls(parts: readonly ToolCallPart[]): readonly CallState[] {
  return parts.map((part, index) => ({
    id: part.call,
    index,
    tool: part.tool,
    input: part.input,
    status: "proposed",
    asked: 0,
    unknownTickets: 0,
    keyGeneration: 1,
  }));
}

export function withCall(state: RunState, id: CallId, change: (call: CallState) => CallState): RunState {
  const { step } = state;
  if (!step?.calls.some((call) => call.id === id)) {
    throw new HoldfastError("illegal-transition", `Run ${state.created.identity.run} has no open call ${id}`);
  }
  return { ...state, step: { ...step, calls: step.calls.map((call) => (call.id === id ? change(call) : call)) } };
}

export function applyGate(state: RunState, entry: EntryStamp & CallGated): RunState {
  const { verdict } = entry;
  const judged = withCall(state, entry.call, (call) => {
    if (call.status !== "proposed") throw wrongCall(call, "judged");
    return gated(call, verdict);
  });
  if (verdict.kind !== "refuse" || !verdict.stop) return judged;
  const { message, reason: code, policy } = verdict;
  return stopWith(judged, { outcome: blocked(message, { code, policy }), at: entry.at });
}

function wrongCall(call: CallState, what: string): HoldfastError {
  return new HoldfastError("illegal-transition", `Call ${call.id} is ${call.status} and cannot be ${what}`);
}

function gated(call: CallState, verdict: Verdict): CallState {
  const { edit, ask: _ask, problem: _problem, ...rest } = call;
  switch (verdict.kind) {
    case "allow":
      return { ...rest, status: "ready", input: givenInput(verdict) ?? edited(edit) ?? call.input };
    case "ask":
      return { ...rest, status: "asked", ask: verdict, input: givenInput(verdict) ?? call.input };
    case "refuse":
      return { ...rest, status: "concluded", result: errorResult(verdict.code, verdict.message) };
    case "result":
      return { ...rest, status: "concluded", result: verdict.result };
    default:
      return verdict satisfies never;
  }
}

function givenInput({ input }: { readonly input?: JsonValue }): CallInput | undefined {
  return input === undefined ? undefined : { kind: "json", value: input };
}

function edited(edit: CallState["edit"]): CallInput | undefined {
  return edit && { kind: "json", value: edit.input };
}

export function applyCallEffect(state: RunState, entry: EffectEntry): RunState {
  const call = stepOf(state, entry).calls.find((each) =>
    entry.type === "effect-intended" ? each.id === entry.call : each.effect?.id === entry.effect,
  );
  if (!call) throw new HoldfastError("illegal-transition", `Effect ${entry.effect} belongs to no open call`);
  if (entry.type === "effect-intended" && call.status !== "ready") throw wrongCall(call, "intended");
  const effect = nextEffect(call.effect?.id === entry.effect ? call.effect : undefined, entry);
  const books = effect.child ? keepChildBooks(state, entry) : state;
  if (entry.type === "effect-intended") {
    if (effect.child?.background) return withTask(books, call, effect);
    const handed = entry.kind === "handoff" ? { ...books, handoff: { tool: call.tool } } : books;
    return withCall(handed, call.id, ({ reasked: _reasked, again: _again, ...each }) => ({
      ...each,
      effect,
      status: "running",
    }));
  }
  const answered = entry.answered ? { result: entry.answered } : {};
  const moved = withCall(books, call.id, (each) => ({ ...each, effect, ...afterAttempt(entry.result), ...answered }));
  return entry.result.kind === "unknown" ? { ...moved, unknowns: [...state.unknowns, unknownOf(call)] } : moved;
}

/** The call is over with the intent: its result is the handle. */
function withTask(state: RunState, call: CallState, effect: EffectState): RunState {
  const result = handleOf(effect);
  return withCall(beginTask(state, call, effect), call.id, (each) => ({ ...each, status: "concluded", result }));
}

function afterAttempt(result: Settled): Pick<CallState, "status"> & Partial<CallState> {
  switch (result.kind) {
    case "done":
    case "refused":
    case "failed":
    case "aborted":
      return { status: "concluded" };
    case "not-made":
    case "lost":
      return { status: "ready" };
    case "unknown":
      return { status: "unknown", problem: result.why, decidableFrom: result.decidableFrom };
    default:
      return result satisfies never;
  }
}

function unknownOf(call: CallState): RunState["unknowns"][number] {
  return { call: call.id, tool: call.tool, input: call.input.kind === "json" ? call.input.value : null };
}

export function applyOpened(state: RunState, entry: EntryStamp & TicketOpened): RunState {
  const { ticket } = entry;
  if (state.tickets.some((each) => each.id === ticket.id)) {
    throw new HoldfastError("illegal-transition", `Ticket ${ticket.id} is already open`);
  }
  const opened = { ...state, tickets: [...state.tickets, ticket] };
  if (ticket.kind === "timer") return { ...opened, timers: state.timers + 1 };
  if (ticket.kind === "quarantined") return { ...opened, quarantines: state.quarantines + 1 };
  if (ticket.kind === "missing-capability") return { ...opened, missed: state.missed + 1 };
  if (ticket.kind === "pause") return { ...opened, pauses: state.pauses + 1 };
  if (isRemoteTicket(ticket) && state.remote) return noteRemoteTicket(opened, ticket);
  if (!ticket.call) {
    if (ticket.plugin === undefined) throw new HoldfastError("illegal-transition", `Ticket ${ticket.id} names no call`);
    return { ...opened, plugins: { ...state.plugins, opened: state.plugins.opened + 1 } };
  }
  if (ticket.kind === "child" || ticket.kind === "background") return opened;
  return withCall(opened, ticket.call.id, (call) =>
    ticket.kind === "unknown-outcome"
      ? { ...call, unknownTickets: call.unknownTickets + 1 }
      : { ...call, asked: call.asked + 1 },
  );
}

/** A4: only the ticket it names, only while it is open. */
export function applyDecision(state: RunState, entry: EntryStamp & TicketDecided): RunState {
  const ticket = state.tickets.find((each) => each.id === entry.ticket);
  if (!ticket) throw new HoldfastError("illegal-transition", `Ticket ${entry.ticket} is not open`);
  if (!takes(ticket, entry.decision.kind)) {
    throw new HoldfastError("illegal-transition", `Ticket ${ticket.id} does not take ${entry.decision.kind}`);
  }
  const rest = noteDecision({ ...state, tickets: state.tickets.filter((each) => each !== ticket) }, ticket, entry);
  if (endsRun(entry.decision)) {
    const asked = rest.cancel ? rest : { ...rest, cancel: { by: entry.by, at: entry.at, seq: entry.seq } };
    return ticket.call ? asked : withoutPause(asked, ticket);
  }
  if (isRemoteTicket(ticket)) return decideRemote(rest, ticket, entry);
  if (!ticket.call) return withoutPause(rest, ticket);
  if (entry.decision.kind === "child-ended") return childEnded(rest, ticket, entry.decision);
  if (ticket.kind === "background") return rest; // its call has its result
  const decided = withCall(rest, ticket.call.id, (call) => decideCall(call, ticket, entry));
  return ticket.kind === "unknown-outcome" ? knownAgain(decided, ticket.call.id) : decided;
}

/** Its result is known; the effect is settled, and what was held for it given back, by the run itself. */
function childEnded(state: RunState, { kind, call }: TicketRecord, ended: ChildEnded): RunState {
  if (!call) return state;
  const known =
    kind === "background"
      ? endTask(state, call.id, ended)
      : withCall(state, call.id, (each) => ({ ...each, ended, result: resultOfChild(ended) }));
  if (!state.stopping?.some(({ run }) => run === ended.run)) return known;
  const how = ended.outcome.kind === "cancelled" ? ("stopped" as const) : ("finished-first" as const);
  const stopping = state.stopping.map((each) => (each.run === ended.run ? { ...each, how } : each));
  return { ...known, stopping: [...stopping, ...(ended.descendants ?? [])] };
}

function endsRun(decision: Decision): boolean {
  return decision.kind === "cancel-run" || (decision.kind === "expired" && decision.counts === "cancel-run");
}

/** The engine may close any ticket and settles its timers; everything else is the kind's own verb. */
function takes(ticket: TicketRecord, kind: DecisionKind): boolean {
  if (kind === "closed") return true;
  if (kind === "expired") return ticket.answerBy !== undefined;
  if (kind === "child-ended") return ticket.kind === "child" || ticket.kind === "background";
  return kind === "elapsed" ? ticket.kind === "timer" : verbsOf(ticket).includes(kind);
}

function withoutPause(state: RunState, ticket: TicketRecord): RunState {
  if (ticket.kind !== "pause") return state;
  const { pause: _pause, ...rest } = state;
  return rest;
}

function knownAgain(state: RunState, call: CallId): RunState {
  return { ...state, unknowns: state.unknowns.filter((each) => each.call !== call) };
}

function decideCall(call: CallState, ticket: TicketRecord, entry: Entry & TicketDecided): CallState {
  const { decision } = entry;
  const made = { ...call, decision: { decision, by: entry.by, at: entry.at } };
  switch (decision.kind) {
    case "approve":
      return { ...made, status: "ready" };
    case "edit":
      return { ...made, status: "proposed", edit: { input: decision.input } };
    case "reject":
      return conclude(made, errorResult("rejected", decision.reason));
    case "answer":
      if (ticket.call?.resume === "pass-decision-to-tool") return { ...made, status: "ready" };
      return conclude(made, { kind: "value", value: decision.value });
    case "mark-done":
      return conclude(made, { kind: "value", value: decision.result });
    case "mark-failed":
      return conclude(made, errorResult("marked-failed", decision.reason));
    case "run-again":
      return { ...made, status: "ready", keyGeneration: call.keyGeneration + 1 };
    case "closed":
      if (decision.why === "amended") return { ...call, status: "proposed" };
      return conclude(made, closedResult(ticket));
    case "expired":
      if (decision.counts === "approve") return { ...made, status: "ready" };
      return conclude(made, errorResult("rejected", "Nobody answered in time"));
    case "release":
    case "elapsed":
    case "cancel-run":
    case "child-ended":
      throw new HoldfastError("illegal-transition", `Ticket ${ticket.id} does not take ${decision.kind}`);
    default:
      return decision satisfies never;
  }
}

const undone: readonly CallState["status"][] = ["proposed", "asked", "ready"];

/** Calls of tools that have changed: what has not begun is judged anew, whoever allowed it before. */
export function reconsider({ step, tickets }: RunState, changed: readonly string[]): readonly CallState[] {
  const isOpen = ({ id }: CallState): boolean => tickets.some((ticket) => ticket.call?.id === id);
  return (step?.calls ?? []).map((call) => {
    if (!changed.includes(call.tool) || !undone.includes(call.status) || isOpen(call)) return call;
    const { ask: _ask, edit: _edit, decision, ...rest } = call;
    if (call.asked === 0) return { ...rest, status: "proposed", again: true };
    const answered = decision ? `, and what ${decision.by} answered was about the tool as it was` : "";
    return {
      ...rest,
      status: "proposed",
      again: true,
      reasked: `Tool ${call.tool} has changed since this was asked${answered}`,
    };
  });
}

function closedResult(ticket: TicketRecord): CallResult {
  if (ticket.kind === "child") {
    return errorResult(
      "aborted",
      `The run ended; ${ticket.child?.agent ?? "its delegate"} was asked to end and had not`,
    );
  }
  return ticket.kind === "unknown-outcome"
    ? errorResult("outcome-unknown", "The run ended before anyone said whether this call took effect")
    : errorResult("not-run", "The run ended before this call was decided");
}

function conclude(call: CallState, result: CallResult): CallState {
  return { ...call, status: "concluded", result };
}

/** A5: a call gets its one result, and no other. */
export function settleCall(state: RunState, id: CallId): RunState {
  return withCall(state, id, ({ result: _result, ...call }) => {
    if (call.status === "settled") throw wrongCall(call, "settled again");
    return { ...call, status: "settled" };
  });
}

export function errorResult(code: CallErrorCode, message: string): CallResult {
  return { kind: "error", code, message };
}
