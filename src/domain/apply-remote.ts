/**
 * The part of `apply` that a run which executes elsewhere has: its turns, what was seen of the other side, and its tickets.
 *
 * X1 From the intent of a turn on, work may go on at the other side, until something says that it does not.
 * X2 A task belongs to the turn that saw it, and to those that continue it; another turn begins without one.
 */
import { nextEffect, stepOf } from "./apply-step.ts";
import { remoteTaskKey } from "./backend/remote-turn.ts";
import type { RemoteTask } from "./backend/result.ts";
import { mayStillRun } from "./backend/result.ts";
import type { EffectIntended, EffectSettled, EntryStamp, Settled, TicketDecided } from "./entry.ts";
import { replyId } from "./ids.ts";
import type { JsonValue } from "./json.ts";
import type { Message } from "./message.ts";
import type { EffectState, RemoteState, RunState } from "./run-state.ts";
import type { StateChanged } from "./state-slots.ts";
import type { TicketRecord } from "./ticket.ts";

type EffectEntry = EntryStamp & (EffectIntended | EffectSettled);

export function isAbort(state: RunState, entry: EffectEntry): boolean {
  return entry.type === "effect-intended" ? entry.kind === "remote-abort" : entry.effect === state.remote?.abort?.id;
}

/** What is told to stop and said so does; a request that failed leaves it open. */
export function applyAbort(state: RunState, entry: EffectEntry): RunState {
  if (!state.remote) return state;
  const abort = nextEffect(state.remote.abort, entry);
  const isOver = entry.type === "effect-settled" && entry.result.kind === "done";
  return { ...state, remote: { ...state.remote, abort, ...(isOver ? { mayRun: false } : {}) } };
}

export function noteTurn(state: RunState, entry: EffectEntry): RunState {
  if (entry.type === "effect-intended") return entry.remote ? beginTurn(state, entry, entry.remote) : state;
  if (!state.remote) return state;
  const mayRun = goesOnAfter(entry.result, state.remote.mayRun);
  const task = entry.result.kind === "done" ? entry.result.remote?.task : undefined;
  return { ...state, remote: { ...state.remote, mayRun, ...(task ? { task } : {}) } };
}

function beginTurn(state: RunState, { step }: EffectIntended, turn: RemoteState["turn"]): RunState {
  const before = state.remote;
  const isNext = before?.step !== step;
  const task = turn.task ?? (before?.turn.message === turn.message ? before.task : undefined); // X2
  const remote: RemoteState = {
    turn,
    step,
    ...(task ? { task } : {}),
    mayRun: true, // X1
    sentBefore: (isNext ? before?.sent : before?.sentBefore) ?? 0,
    sent: isNext ? state.appended : (before?.sent ?? 0),
    waits: before?.waits ?? 0,
    unknowns: before?.unknowns ?? 0,
    again: before?.again ?? 0,
  };
  return { ...state, remote };
}

/** X1. */
function goesOnAfter(result: Settled, before: boolean): boolean {
  switch (result.kind) {
    case "done":
      return result.remote ? mayStillRun(result.remote) : false;
    case "failed":
    case "refused":
    case "lost": // the other side has nothing of it
      return false;
    case "not-made":
    case "aborted":
    case "unknown":
      return before;
    default:
      return result satisfies never;
  }
}

/** The task as it was first seen. */
export function noteTask(state: RunState, { key, change }: StateChanged): RunState {
  if (key !== remoteTaskKey || !state.remote || !("value" in change)) return state;
  return { ...state, remote: { ...state.remote, task: change.value as unknown as RemoteTask } };
}

const kinds: readonly TicketRecord["kind"][] = ["input", "auth", "unknown-outcome"];

/** What the other side asks, or what nobody knows of it: about no call, and asked by no plugin. */
export function isRemoteTicket({ call, plugin, kind }: TicketRecord): boolean {
  return call === undefined && plugin === undefined && kinds.includes(kind);
}

export function noteRemoteTicket(state: RunState, { kind }: TicketRecord): RunState {
  const { remote } = state;
  if (!remote) return state;
  const isUnknown = kind === "unknown-outcome";
  return {
    ...state,
    remote: isUnknown ? { ...remote, unknowns: remote.unknowns + 1 } : { ...remote, waits: remote.waits + 1 },
  };
}

export function decideRemote(state: RunState, ticket: TicketRecord, entry: EntryStamp & TicketDecided): RunState {
  const { remote } = state;
  const { decision } = entry;
  if (!remote) return state;
  switch (decision.kind) {
    case "answer": {
      const on = ticket.kind === "auth" ? "auth" : "input";
      return { ...state, remote: { ...remote, answer: { ticket: ticket.id, on, value: decision.value } } };
    }
    case "run-again":
      return withModel({ ...state, remote: { ...remote, again: remote.again + 1 } }, { last: { kind: "lost" } }, entry);
    case "mark-failed": {
      const error = { code: "backend-execution-failed", message: decision.reason };
      return over(withModel(state, { last: { kind: "failed", error, retry: "never" } }, entry));
    }
    case "mark-done":
      return over(marked(state, decision.result, entry));
    default:
      return state;
  }
}

function withModel(state: RunState, change: Pick<EffectState, "last">, entry: EntryStamp & TicketDecided): RunState {
  const step = stepOf(state, entry);
  return { ...state, step: { ...step, model: { ...step.model, ...change } } };
}

function over(state: RunState): RunState {
  return state.remote ? { ...state, remote: { ...state.remote, mayRun: false } } : state;
}

/** What an operator says was answered goes the way of every answer. */
function marked(state: RunState, value: JsonValue, entry: EntryStamp & TicketDecided): RunState {
  const { run } = state.created.identity;
  const { step } = stepOf(state, entry);
  const message: Message = {
    id: replyId(run, step),
    role: "assistant",
    parts: [{ type: "text", text: textOfAnswer(value) }],
    visibility: "all",
    producer: { run, step },
  };
  const remote = { status: { kind: "completed" }, termination: { type: "natural_end" }, tookMs: 0 } as const;
  const last: Settled = { kind: "done", message: message.id, finish: "stop", remote };
  const settled = withModel(state, { last }, entry);
  return { ...settled, step: { ...stepOf(settled, entry), pending: { message } } };
}

export function textOfAnswer(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
