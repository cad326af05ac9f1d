/** Moves a run that goes on: the step's model call, its tool calls, its end, the next step. */
import { errorResult } from "../domain/apply-call.ts";
import { isAnswer } from "../domain/candidate.ts";
import type { FinishReason } from "../domain/entry.ts";
import type { PluginState } from "../domain/plugin-state.ts";
import type { Outcome } from "../domain/run.ts";
import type { StepState } from "../domain/run-state.ts";
import { engine } from "../domain/ticket.ts";
import { advanceCalls, concludeCalls } from "./advance-calls.ts";
import { moveTurn, rulingNow, sayAnswer, waitsElsewhere } from "./advance-turn.ts";
import { hasNews, hasTasks, settleTasks, tellTasks } from "./background.ts";
import { hasGivenUp, judgeOutput, withoutOutput } from "./check-output.ts";
import { closeLostCompaction } from "./compact.ts";
import { act, type Draft, resume, wakeBy } from "./draft.ts";
import { type Ending, urgentEnd } from "./finish.ts";
import { handOn } from "./hand-off.ts";
import { intendModel, isHeld } from "./intend.ts";
import { letOut } from "./let-out.ts";
import { pass } from "./moments.ts";
import { isOutcome, reserve } from "./reserve.ts";
import { isBusy } from "./rest.ts";
import { appendResult } from "./take-fact.ts";

export function advance(draft: Draft): Ending | undefined {
  if (draft.state.tickets.some((ticket) => ticket.kind === "quarantined")) return undefined;
  settleTimers(draft);
  closeLostCompaction(draft);
  settleTasks(draft);
  if (draft.state.cancel) return urgentEnd(draft); // what counts when nobody answers may be the end
  if (!hearDecisions(draft)) return undefined;
  const { step, plugins } = draft.state;
  if (plugins.stop) return stopping(draft, plugins.stop);
  const isNew = !step || draft.state.arrived;
  if (isNew && !pass(draft, "before-run")) return undefined;
  if (step && !step.ended) {
    if (step.model.last?.kind !== "done") return advanceModel(draft, step);
    const said = letOut(draft);
    if (said === "waiting") return undefined;
    if (said !== "said") return endingNow(draft, said);
    if (!isBegun(step) && !pass(draft, "after-model")) return undefined;
    if (step.retried !== undefined) dropCalls(draft, step.retried);
    advanceCalls(draft);
    if (draft.state.step?.calls.some((call) => call.status !== "settled")) return undefined;
    act(draft, { type: "step-ended", step: step.step });
  }
  if (!isNew && !pass(draft, "after-step")) return undefined;
  if (handOn(draft)) return undefined;
  if (waitsElsewhere(draft)) return undefined;
  const ending = afterStep(draft);
  if (!ending) return beginStep(draft);
  if (isHeld(draft.state)) return undefined; // its question would be closed before anybody saw it
  if (ending.outcome.kind !== "completed") return ending;
  if (hasTasks(draft)) return undefined; // BT3
  const outcome = judgeOutput(draft, ending.outcome);
  if (outcome === "asked") return undefined;
  if (outcome === "repair") return beginStep(draft);
  if (outcome.kind !== "completed") return { ...ending, outcome };
  if (!pass(draft, "before-end", { outcome })) return undefined;
  if (draft.state.plugins.goesOn) return beginStep(draft);
  return { ...ending, outcome };
}

/** Once a call has moved, the reply was let through: nobody is asked about it again. */
function isBegun({ calls }: StepState): boolean {
  return calls.some((call) => call.status !== "proposed");
}

/** What people have decided is shown to plugins before the run acts on it. */
function hearDecisions(draft: Draft): boolean {
  return draft.state.plugins.decided.map(({ id }) => pass(draft, "on-decision", { subject: id })).every(Boolean);
}

/** A plugin wants the end: nothing new begins, and what is in flight may settle first. */
function stopping(draft: Draft, stop: NonNullable<PluginState["stop"]>): Ending | undefined {
  concludeCalls(draft);
  const isInFlight = isBusy(draft) || draft.state.step?.model.open?.epoch === draft.at.epoch;
  return isInFlight ? undefined : { outcome: withoutOutput(draft, stop.outcome), since: stop.at, why: "run-ended" };
}

/** A plugin wants another reply: this one's calls are answered, and none is run. */
function dropCalls(draft: Draft, reason: string): void {
  for (const call of draft.state.step?.calls ?? []) {
    if (call.status !== "proposed") continue;
    resume(draft);
    appendResult(draft, call.id, errorResult("not-run", `The reply is asked for again: ${reason}`));
  }
}

function settleTimers(draft: Draft): void {
  for (const { id, dueAt, answerBy, onExpiry = "reject" } of draft.state.tickets) {
    if (answerBy !== undefined && answerBy <= draft.at.now) {
      const decision = { kind: "expired", counts: onExpiry } as const;
      act(draft, { type: "ticket-decided", ticket: id, decision, by: engine, key: `${id}.expired` });
    }
    if (dueAt === undefined) continue;
    if (dueAt > draft.at.now) wakeBy(draft, dueAt);
    else act(draft, { type: "ticket-decided", ticket: id, decision: { kind: "elapsed" }, by: engine, key: id });
  }
}

function advanceModel(draft: Draft, step: StepState): Ending | undefined {
  if (draft.at.remote) return advanceTurn(draft, step);
  const { model } = step;
  if (model.open?.epoch === draft.at.epoch) return undefined;
  if (model.open) {
    const { attempt } = model.open;
    act(draft, { type: "effect-settled", effect: model.id, attempt, result: { kind: "lost" } });
  }
  const { last } = model;
  if (last?.kind === "failed") {
    if (last.retryAt === undefined) return endingNow(draft, { kind: "failed", error: last.error, retry: last.retry });
    if (last.retryAt > draft.at.now) {
      wakeBy(draft, last.retryAt);
      return undefined;
    }
  }
  const unpaid = intendModel(draft, draft.state.step ?? step);
  return unpaid && endingNow(draft, unpaid);
}

/** How the run ends when the last step asked for nothing more; undefined when there is a next step. */
function afterStep(draft: Draft): Ending | undefined {
  const { step, inbox, plugins } = draft.state;
  if (!step) return undefined;
  const told = rulingNow(draft);
  if (told?.kind === "waits") return undefined; // it was answered
  if (told && told.outcome.kind !== "completed") return endingNow(draft, told.outcome);
  const { last } = step.model;
  const finish = last?.kind === "done" ? last.finish : undefined;
  // What was filtered or broken off is no basis to go on from, whatever it asked for.
  const hasCalled = step.calls.some((call) => !isAnswer(call, draft.at.output));
  const hasMore = hasCalled || inbox.length > 0 || plugins.goesOn || hasNews(draft);
  const isBroken = brokenFinishes.includes(finish) || (finish === "length" && hasCalled); // it would be cut there again
  if (!isBroken && hasMore && !hasGivenUp(draft)) return undefined;
  return endingNow(draft, told ? told.outcome : naturalOutcome(finish));
}

const brokenFinishes: readonly (FinishReason | undefined)[] = ["content-filter", "error", "other"];

/** Total: only a reply that is known to be whole is a success. */
function naturalOutcome(finish: FinishReason | undefined): Outcome {
  switch (finish) {
    case undefined: // no model was asked
    case "stop":
    case "tool-calls":
      return { kind: "completed", reason: "natural" };
    case "length":
      return { kind: "stopped", code: "length", detail: "The model's answer was cut at its output limit" };
    case "content-filter":
      return { kind: "blocked", reason: "content-filter" };
    case "error":
      return {
        kind: "failed",
        error: { code: "model-failed", message: "The model ended with an error" },
        retry: "never",
      };
    case "other":
      return { kind: "stopped", code: "finish", detail: "The model stopped for a reason that is not known here" };
    default:
      return finish satisfies never;
  }
}

function beginStep(draft: Draft): Ending | undefined {
  const { stepsEnded, created, pause, inbox } = draft.state;
  const { steps } = created.budget;
  if (isHeld(draft.state)) return undefined;
  if (stepsEnded >= steps) {
    return endingNow(draft, { kind: "stopped", code: "steps", detail: `The budget of ${steps} steps is spent` });
  }
  const held = reserve(draft);
  if (isOutcome(held)) return hasTasks(draft) ? undefined : endingNow(draft, held); // BT4; before the step is begun
  if (pause) return undefined;
  if (!pass(draft, "before-step")) return undefined;
  for (const { id, seq } of inbox) {
    act(draft, { type: "message-appended", body: { kind: "input", from: seq, input: id } });
  }
  tellTasks(draft);
  sayAnswer(draft);
  act(draft, { type: "step-started", step: stepsEnded + 1 });
  const { step } = draft.state;
  const unpaid = step && intendModel(draft, step);
  return unpaid && endingNow(draft, unpaid);
}

/** The same of a turn that is made elsewhere. */
function advanceTurn(draft: Draft, step: StepState): Ending | undefined {
  const moved = moveTurn(draft, step);
  if (moved === "waiting") return undefined;
  const outcome = moved ?? intendModel(draft, draft.state.step ?? step);
  return outcome && endingNow(draft, outcome);
}

/** Since its last entry: what may still settle is given one grace, not another each time it is looked at. */
function endingNow({ state }: Draft, outcome: Outcome): Ending {
  return { outcome, since: state.updatedAt, why: "run-ended" };
}
