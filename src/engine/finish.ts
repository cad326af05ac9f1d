/**
 * The one finaliser: every end of a run passes here, whatever ended it.
 * Effects in flight are aborted and given a grace; then tickets close, every call gets its one result, and run-ended
 * is written (L7).
 */
import { errorResult } from "../domain/apply-call.ts";
import type { RunEnded, Settled } from "../domain/entry.ts";
import { successorId } from "../domain/ids.ts";
import type { CallResult } from "../domain/message.ts";
import { momentId } from "../domain/phase.ts";
import type { Outcome } from "../domain/run.ts";
import type { CallState, EffectState, OpenAttempt } from "../domain/run-state.ts";
import { type ClosedWhy, type EngineDecision, engine } from "../domain/ticket.ts";
import { wasRun } from "./advance-calls.ts";
import { closeTasks } from "./background.ts";
import { giveUpCompaction } from "./compact.ts";
import { closeChild, isChild } from "./delegate.ts";
import { type Draft, emit, wakeBy } from "./draft.ts";
import { descendantsOf, stopChildren } from "./stop-children.ts";
import { stopTask } from "./stop-task.ts";
import { appendResult } from "./take-fact.ts";
import { withhold } from "./withhold.ts";

export interface Ending {
  readonly outcome: Outcome;
  /** The grace of effects in flight is counted from here. */
  readonly since: number;
  /** What the tickets that are still open are told. */
  readonly why: ClosedWhy;
}

/** Ends that do not wait for the step: a cancel beats the deadline, both beat everything else. */
export function urgentEnd(draft: Draft): Ending | undefined {
  const { cancel, created, status } = draft.state;
  if (cancel) {
    const said = cancel.reason ?? cancel.instead;
    const reason = said === undefined ? {} : { reason: said };
    return { outcome: { kind: "cancelled", ...reason }, since: cancel.at, why: cancel.instead ?? "cancelled" };
  }
  const { deadlineAt } = created;
  if (deadlineAt !== undefined && draft.at.now >= deadlineAt && status !== "done") {
    return { outcome: { kind: "timed-out" }, since: deadlineAt, why: "timed-out" };
  }
  return undefined;
}

export function finish(draft: Draft, ending: Ending): void {
  if (stopEffects(draft, ending) || stopChildren(draft)) return;
  closeModel(draft);
  giveUpCompaction(draft);
  if (stopTask(draft)) return;
  withhold(
    draft,
    ending.outcome.kind === "blocked" ? ending.outcome.reason : "the run ended before it was let through",
  );
  for (const call of draft.state.step?.calls ?? []) closeCall(draft, call.index, ending);
  closeTasks(draft);
  closeTickets(draft, ending);
  const { step } = draft.state;
  if (step && !step.ended) emit(draft, { type: "step-ended", step: step.step });
  emit(draft, {
    type: "run-ended",
    outcome: ending.outcome,
    ...answerTold(draft, ending.outcome),
    ...leftUnread(draft, ending.outcome),
    ...descendantsOf(draft),
  });
}

/** With an output gate, only what that has let through is the answer. */
function answerTold({ state, at }: Draft, { kind }: Outcome): Pick<RunEnded, "answer" | "unsaid"> {
  if (kind !== "completed" || state.answer === undefined) return {};
  return state.step?.said || !at.hooked("output-gate") ? { answer: state.answer } : { unsaid: true };
}

/** Aborts what is in flight; true while that may still settle. */
export function stopEffects(draft: Draft, ending: Ending): boolean {
  const mine = openEffects(draft).filter((effect) => effect.open?.epoch === draft.at.epoch);
  const graceEnd = ending.since + draft.at.limits.graceMs;
  if (mine.length === 0 || draft.at.now >= graceEnd) return false;
  draft.abort.push(...mine.map((effect) => effect.id));
  wakeBy(draft, graceEnd);
  return true;
}

/**
 * Whoever cancels means its inputs too, and they are named, and so are those of a run that ends while it is queued: it has
 * no thread to hand on, and of a delegate's run, whose parent has its one result. Any other end leaves them to a successor.
 */
function leftUnread({ state, at }: Draft, { kind }: Outcome): Pick<RunEnded, "successor" | "unread"> {
  const { inbox, created } = state;
  if (inbox.length === 0) return {};
  if (kind === "cancelled" || !at.mayStart || created.delegated) return { unread: inbox.map(({ id }) => id) };
  return { successor: successorId(created.identity.run, (text) => at.hash.sha256(text)) };
}

function openEffects(draft: Draft): readonly EffectState[] {
  const { step, compaction } = draft.state;
  const effects = [step?.model, compaction?.effect, ...(step?.calls.map((call) => call.effect) ?? [])];
  return effects.filter((effect) => effect?.open !== undefined && !effect.child) as EffectState[];
}

function closeModel(draft: Draft): void {
  const model = draft.state.step?.model;
  if (!model?.open) return;
  const result: Settled = closingTurn(draft, model.open) ?? {
    kind: model.open.epoch === draft.at.epoch ? "aborted" : "lost",
  };
  emit(draft, { type: "effect-settled", effect: model.id, attempt: model.open.attempt, result });
}

/** Of a turn that another process has sent nobody knows how far it came. */
function closingTurn({ state, at }: Draft, { epoch, startBy, timeoutMs }: OpenAttempt): Settled | undefined {
  if (!state.remote || epoch === at.epoch) return undefined;
  return { kind: "unknown", why: "the run ended while it was in flight", decidableFrom: startBy + timeoutMs };
}

function closeCall(draft: Draft, index: number, ending: Ending): void {
  const call = draft.state.step?.calls[index];
  if (!call || call.status === "settled") return;
  if (isChild(call)) closeChild(draft, call);
  const ticket = draft.state.tickets.find((each) => each.call?.id === call.id);
  if (ticket) {
    const decision: EngineDecision = { kind: "closed", why: ending.why };
    emit(draft, { type: "ticket-decided", ticket: ticket.id, decision, by: engine, key: `${ticket.id}.closed` });
  }
  const closed = draft.state.step?.calls[index] ?? call;
  if (closed.status === "settled") return;
  const result = closingResult(draft, closed);
  appendResult(draft, call.id, result);
}

/** An open attempt is settled without a ticket: a `once` call as unknown, any other as aborted. */
function closingResult(draft: Draft, call: CallState): CallResult {
  const result = call.result ?? draft.answered.get(call.id)?.result;
  if (result && isWithheld(draft, call)) {
    return errorResult("aborted", "The tool ran, but the run ended before plugins had let its result through");
  }
  if (result) return result;
  const { effect } = call;
  if (effect?.open) {
    const once = (draft.at.spec(call.tool)?.effect ?? "once") === "once";
    const { attempt, startBy, timeoutMs } = effect.open;
    const result: Settled = once
      ? { kind: "unknown", why: "the run ended while it was in flight", decidableFrom: startBy + timeoutMs }
      : { kind: "aborted" };
    emit(draft, { type: "effect-settled", effect: effect.id, attempt, result });
    return once
      ? errorResult("outcome-unknown", "The run ended while this call was in flight; it may have happened")
      : errorResult("aborted", "The run ended while this call was in flight");
  }
  if (call.status === "unknown" || call.keyGeneration > 1) {
    return errorResult("outcome-unknown", "The run ended before its outcome was known");
  }
  if (mayHaveBegun(effect)) return errorResult("aborted", "The run ended after an attempt of this call was lost");
  return errorResult("not-run", "The run ended before this call began");
}

/** H2: what waits for plugins does not slip past them at the end. */
function isWithheld({ state }: Draft, call: CallState): boolean {
  return wasRun(call) && !state.plugins.passed.includes(momentId("after-tool", call.id));
}

/** Never "not run" of what an attempt that died with its worker may have done. */
function mayHaveBegun(effect: EffectState | undefined): boolean {
  return effect !== undefined && (effect.attempt > 1 || effect.last?.kind !== "not-made");
}

function closeTickets(draft: Draft, ending: Ending): void {
  for (const { id } of draft.state.tickets) {
    const decision: EngineDecision = { kind: "closed", why: ending.why };
    emit(draft, { type: "ticket-decided", ticket: id, decision, by: engine, key: `${id}.closed` });
  }
}
