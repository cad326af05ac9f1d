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
import type { EntryBody } from "../domain/entry.ts";
import type { EffectId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import { advance } from "./advance.ts";
import { type Circumstances, type Draft, emit, openDraft, wakeBy } from "./draft.ts";
import { finish, urgentEnd } from "./finish.ts";
import { closeMissing, openMissing, openQuarantine, rest } from "./rest.ts";
import { takeFact } from "./take-fact.ts";
import type { Fact, Order } from "./work.ts";

export interface Next {
  readonly entries: readonly EntryBody[];
  /** The state once the entries are committed. */
  readonly state: RunState;
  readonly start: readonly Order[];
  readonly abort: readonly EffectId[];
  readonly wakeAt: number | undefined;
  readonly handOver: boolean;
}

export function decide(state: RunState, facts: readonly Fact[], at: Circumstances): Next {
  const draft = openDraft(state, at);
  if (state.status === "done") return draft; // a claim that was frozen while another one ended the run
  for (const fact of facts) takeFact(draft, fact);
  const urgent = urgentEnd(draft);
  if (urgent) finish(draft, urgent);
  else if (state.status === "created" && !at.mayStart)
    wakeBy(draft, state.created.deadlineAt); // D7
  else goOn(draft);
  return draft;
}

function goOn(draft: Draft): void {
  if (draft.state.status === "created") begin(draft);
  if (!draft.at.capable) return openMissing(draft);
  closeMissing(draft);
  if (draft.at.crashes > draft.at.limits.crashes) return openQuarantine(draft);
  const ending = advance(draft);
  if (ending) finish(draft, ending);
  else rest(draft);
}

function begin(draft: Draft): void {
  emit(draft, { type: "run-started", position: draft.at.threadPosition });
  for (let index = 0; index < draft.state.inputCount; index += 1) {
    emit(draft, { type: "message-appended", body: { kind: "created", index } });
  }
}
