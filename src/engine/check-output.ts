/** The answer as the run's output: asked about, written down, repaired in bounds (O1, O2). */
import { type Candidate, candidateIn, isAnswer } from "../domain/candidate.ts";
import type { MessageId } from "../domain/ids.ts";
import { messageOf } from "../domain/json.ts";
import type { Message } from "../domain/message.ts";
import { type OutputReport, type OutputSpec, repairRequest } from "../domain/output.ts";
import type { Outcome } from "../domain/run.ts";
import type { RunState } from "../domain/run-state.ts";
import { act, type Draft, resume } from "./draft.ts";
import { settleWithin } from "./settle-within.ts";
import type { Stage, Standing } from "./stage.ts";
import { isAwaitable, type Whenever } from "./whenever.ts";
import { withhold } from "./withhold.ts";
import type { CheckOrder, Fact } from "./work.ts";

/**
 * How the run ends with its answer: `asked` while it is being checked, `repair` when the model has to answer again, else the
 * outcome.
 */
export function judgeOutput(draft: Draft, natural: Outcome): Outcome | "asked" | "repair" {
  const { output } = draft.at;
  const { step } = draft.state;
  if (!output || !step) return natural;
  const { report } = step;
  if (!report) {
    askAbout(draft, step.step);
    return "asked";
  }
  if (report.valid) return natural;
  if (!hasGivenUp(draft)) return "repair";
  const message = `The answer does not fit after ${output.repairs} repairs: ${report.problems.join("; ")}`;
  if (output.onInvalid === "stop") return { kind: "stopped", code: "output-invalid", detail: message };
  return { kind: "failed", error: { code: "output-invalid", message }, retry: "never" };
}

/** Several answers of one reply are one question. */
export function askAbout(draft: Draft, step: number): void {
  resume(draft);
  if (!draft.start.some(({ kind }) => kind === "check-output")) draft.start.push({ kind: "check-output", step });
}

/** O2: the last answer that the model had left does not fit. Nothing makes it answer again. */
export function hasGivenUp({ state, at }: Pick<Draft, "state" | "at">): boolean {
  return state.step?.report?.valid === false && state.invalidOutputs > (at.output?.repairs ?? 0);
}

/** A plugin may end the run as completed only with an output that has passed. */
export function withoutOutput({ state, at }: Pick<Draft, "state" | "at">, outcome: Outcome): Outcome {
  if (outcome.kind !== "completed") return outcome;
  if (state.step?.pending) return { kind: "blocked", reason: "The run ended before its answer was let through" };
  if (!at.output || state.output) return outcome;
  const message = "A plugin ended the run as completed before it had an output that fits";
  return { kind: "failed", error: { code: "output-invalid", message }, retry: "never" };
}

export function checkAnswer(order: CheckOrder, { state, entries }: Standing, stage: Stage): Whenever<Fact> {
  const fact = (report: OutputReport): Fact => ({ kind: "output-checked", step: order.step, report });
  const { output } = stage.boundAgent;
  if (!output) return fact({ valid: false, problems: ["The agent has no output any more"] });
  const isHeldBack = state.step?.pending !== undefined;
  const report = output.check(candidateOf(state, stage.transcript.fixed(entries), output.spec), isHeldBack);
  return isAwaitable(report) ? inTime(Promise.resolve(report), stage).then(fact) : fact(report);
}

/** What the output gate has put in the answer's place is text, however the model was asked. */
function candidateOf(state: RunState, messages: () => readonly Message[], spec: OutputSpec): Candidate {
  const { pending } = state.step ?? {};
  if (!pending) return candidateIn(replyIn(state, messages()), spec);
  return candidateIn(pending.message, pending.changedBy === undefined ? spec : { ...spec, mode: "text" });
}

function replyIn(state: RunState, messages: ReturnType<Stage["transcript"]["window"]>): Message | undefined {
  return state.answer === undefined ? undefined : messages.findLast(({ role }) => role === "assistant");
}

async function inTime(report: Promise<OutputReport>, stage: Stage): Promise<OutputReport> {
  const { phaseTimeoutMs } = stage.limits;
  const within = await settleWithin(report, phaseTimeoutMs, stage);
  if (within.kind === "value") return within.value;
  if (within.kind === "threw") return { valid: false, problems: [`Checking it threw: ${messageOf(within.cause)}`] };
  return { valid: false, problems: [`Checking it did not end within ${phaseTimeoutMs} ms`] };
}

/** The report, and with it what the model is told if it may try again. An answer that was called is told by its result. */
export function takeReport(draft: Draft, { step: number, report }: Extract<Fact, { kind: "output-checked" }>): void {
  const { step, created } = draft.state;
  if (step?.step !== number || step.report) return;
  const { pending } = step;
  act(draft, { type: "output-validated", step: number, report, ...(pending ? { pending: true } : {}) });
  if (pending && !report.valid) {
    if (pending.changedBy !== undefined) return; // nobody asks the model to repair what it did not write
    withhold(draft, "it does not fit");
  }
  const { output } = draft.at;
  if (report.valid || !output || hasGivenUp(draft) || step.calls.some((call) => isAnswer(call, output))) return;
  const { run } = created.identity;
  const message = {
    id: `${run}.${number}.repair` as MessageId,
    role: "user" as const,
    parts: [{ type: "text" as const, text: repairRequest(report.problems, output) }],
    visibility: "internal" as const,
    producer: { run, step: number },
  };
  act(draft, { type: "message-appended", body: { kind: "here", message } });
}
