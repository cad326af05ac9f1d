/**
 * The answer of an agent that has an output gate. It is held back when it arrives, and said when it was let through; live
 * pieces of it are told to nobody.
 *
 * L1 Until the gate has let it through, it is in no message, no event, no result and no sink; the journal keeps it.
 * L2 What was decided is written in the commit that says the answer, or in an earlier one: a cut finds all of it, or asks again.
 * L3 An answer that is not let through leaves a message that says so, whatever ends the run.
 *    What does not fit is told by its places in the schema: the schema's own words may quote it.
 * L4 What the gate puts in its place is checked like the model's own, and never repaired.
 */
import type { FinishReason } from "../domain/entry.ts";
import type { Outcome } from "../domain/run.ts";
import type { PendingAnswer } from "../domain/run-state.ts";
import { askAbout } from "./check-output.ts";
import { type Draft, emit, resume } from "./draft.ts";
import { changer } from "./gate.ts";
import { isHeld } from "./intend.ts";
import { pass } from "./moments.ts";
import { withhold } from "./withhold.ts";

/** Said, or not said yet, or how the run ends without it. */
type LetOut = "said" | "waiting" | Outcome;

export function letOut(draft: Draft): LetOut {
  const { step } = draft.state;
  const { pending } = step ?? {};
  if (!step || !pending) return "said";
  const { last } = step.model;
  if (draft.at.output && last?.kind === "done" && isCut(last.finish)) {
    withhold(draft, `it was cut (${last.finish})`);
    return "said";
  }
  if (draft.at.output && !step.report) {
    askAbout(draft, step.step);
    return "waiting";
  }
  const { report } = step;
  if (report && !report.valid) return unfit(pending, report.problems);
  if (!pass(draft, "output-gate") || isHeld(draft.state)) return "waiting";
  resume(draft);
  emit(draft, { type: "message-appended", body: { kind: "here", message: pending.message }, gate: "passed" });
  if (report) emit(draft, { type: "output-validated", step: step.step, report });
  return "said";
}

/** No answer that could fit. */
function isCut(finish: FinishReason | undefined): boolean {
  return finish !== "stop" && finish !== "tool-calls";
}

/** L4. */
function unfit({ changedBy: plugin = "?", policy }: PendingAnswer, problems: readonly string[]): Outcome {
  const by = changer({ plugin, ...(policy ? { policy } : {}) });
  const message = `${by} changed the output, and it does not fit: ${problems.join("; ")}`;
  return { kind: "failed", error: { code: "output-invalid", message }, retry: "never" };
}
