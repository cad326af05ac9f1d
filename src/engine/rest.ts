/** D4: a run that cannot move waits on its tickets; one that only has to let time pass sleeps or waits on a timer. */

import { HoldfastError } from "../domain/errors.ts";
import type { RunState } from "../domain/run-state.ts";
import { engine, type TicketKind } from "../domain/ticket.ts";
import { isChild } from "./delegate.ts";
import { act, type Draft, emit, wakeBy } from "./draft.ts";
import { openMissingCapability, openPause, openQuarantined, openTimer } from "./tickets.ts";

export function rest(draft: Draft): void {
  const due = draft.wakeAt;
  wakeByEnds(draft);
  if (isBusy(draft)) return;
  const { state, at } = draft;
  if (at.leaving && state.status === "running") {
    draft.handOver = true;
    return;
  }
  if (state.pause && !has(state, "pause")) openPause(draft);
  if (due !== undefined && !has(state, "timer")) {
    if (state.tickets.length === 0 && due - at.now <= at.limits.parkAfterMs) return;
    openTimer(draft, due);
  }
  if (draft.state.status === "running") wait(draft);
}

export function openQuarantine(draft: Draft, why: string): void {
  if (!has(draft.state, "quarantined")) openQuarantined(draft, why);
  if (draft.state.status === "running") wait(draft);
  wakeByEnds(draft);
}

export function gettingNowhere({ at }: Draft): string {
  return `Claimed ${at.crashes - 1} times in a row without getting anywhere; it may be killing its process`;
}

/** D8. */
export function openMissing(draft: Draft, what: string): void {
  const { now, missingAgainMs } = draft.at;
  if (!has(draft.state, "missing-capability")) openMissingCapability(draft, what);
  if (draft.state.status === "running") wait(draft);
  wakeBy(draft, missingAgainMs === undefined ? undefined : now + missingAgainMs);
  wakeByEnds(draft);
}

export function closeMissing(draft: Draft): void {
  for (const { id, kind } of draft.state.tickets) {
    if (kind !== "missing-capability") continue;
    act(draft, { type: "ticket-decided", ticket: id, decision: { kind: "closed", why: "found" }, by: engine, key: id });
  }
}

/** Whatever happens before: the run's own end, and the times at which somebody's chance to answer is over. */
function wakeByEnds(draft: Draft): void {
  wakeBy(draft, draft.state.created.deadlineAt);
  for (const { answerBy } of draft.state.tickets) wakeBy(draft, answerBy);
}

function wait(draft: Draft): void {
  const { tickets, created } = draft.state;
  if (tickets.length === 0) {
    throw new HoldfastError("illegal-transition", `Run ${created.identity.run} can neither move nor wait for anything`);
  }
  const reasons = [...new Set(tickets.map((ticket) => ticket.kind))];
  emit(draft, { type: "run-waiting", tickets: tickets.map((ticket) => ticket.id), reasons });
}

export function isBusy(draft: Draft): boolean {
  if (draft.start.length > 0) return true;
  const { step, compaction } = draft.state;
  const mine = draft.at.epoch;
  if (compaction?.effect.open?.epoch === mine) return true;
  if (draft.state.remote?.abort?.open?.epoch === mine) return true;
  return (
    step?.model.open?.epoch === mine ||
    (step?.calls.some((call) => call.effect?.open?.epoch === mine && !isChild(call)) ?? false)
  );
}

function has(state: RunState, kind: TicketKind): boolean {
  return state.tickets.some((ticket) => ticket.kind === kind);
}
