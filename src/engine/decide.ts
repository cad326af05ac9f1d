/**
 * decide: state + facts → entries to append, orders those entries allow, effects to abort. Pure.
 *
 * D1 An order for an effect stands only beside its intent: both come from `intend`, and the loop starts orders after
 *    the commit.
 * D2 A fact is taken only if its attempt is the open one.
 * D3 After cancel-requested or the deadline nothing new is intended.
 * D4 A run waits only when nothing of it can move, and never without a ticket.
 * D5 Every call ends with exactly one result, every ticket with exactly one decision, every run with one run-ended.
 * D6 An intent of a claim that is gone is closed by its class, never ignored.
 * D7 A run that may not start yet is ended, or left alone until its deadline.
 * D8 Without the agent's code nothing is judged, intended or closed by its class: the run ends or waits.
 */
import type { RunState } from "../domain/run-state.ts";
import { advance } from "./advance.ts";
import { amend } from "./amend.ts";
import { type Circumstances, type Draft, emit, openDraft, wakeBy } from "./draft.ts";
import { type Ending, finish, stopEffects, urgentEnd } from "./finish.ts";
import { pass } from "./moments.ts";
import { closeMissing, gettingNowhere, openMissing, openQuarantine, rest } from "./rest.ts";
import { takeFact } from "./take-fact.ts";
import { type Fact, isQuestion } from "./work.ts";

export function decide(state: RunState, facts: readonly Fact[], at: Circumstances): Draft {
  const draft = openDraft(state, at);
  proceed(draft, facts);
  return draft;
}

/** Decides on, with what has been learned since: what was decided before stays, what was only asked is asked again. */
export function proceed(draft: Draft, facts: readonly Fact[]): void {
  const { at } = draft;
  draft.start = draft.start.filter((order) => !isQuestion(order));
  draft.wakeAt = undefined;
  draft.handOver = false;
  if (draft.state.status === "done") return; // a claim that was frozen while another one ended the run
  for (const fact of facts) takeFact(draft, fact);
  const urgent = urgentEnd(draft);
  if (urgent) end(draft, urgent);
  else if (draft.state.status === "created" && !at.mayStart)
    wakeBy(draft, draft.state.created.deadlineAt); // D7
  else goOn(draft);
}

/** Plugins hear of a cancel and may tidy up their state, but nothing keeps the run from its end. */
function end(draft: Draft, urgent: Ending): void {
  const { cancel, startedAt } = draft.state;
  const isHeard = !cancel || startedAt === undefined || draft.at.missing !== undefined || pass(draft, "on-cancel");
  if (isHeard) finish(draft, urgent);
  else stopEffects(draft, urgent);
}

function goOn(draft: Draft): void {
  if (draft.state.status === "created") begin(draft);
  if (draft.at.missing !== undefined) return openMissing(draft, draft.at.missing);
  closeMissing(draft);
  if (draft.at.broken !== undefined) return openQuarantine(draft, draft.at.broken);
  if (draft.at.crashes > draft.at.limits.crashes) return openQuarantine(draft, gettingNowhere(draft));
  if (draft.at.amend) amend(draft, draft.at.amend);
  const ending = advance(draft);
  if (ending) finish(draft, ending);
  else if (!draft.reopen) rest(draft);
}

function begin(draft: Draft): void {
  emit(draft, { type: "run-started", position: draft.at.threadPosition });
  for (let index = 0; index < draft.state.inputCount; index += 1) {
    emit(draft, { type: "message-appended", body: { kind: "created", index } });
  }
}
