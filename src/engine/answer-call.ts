/**
 * Calls of the answer tool: the model's final answer, and no effect. Nobody judges or intends them, plugins do not see
 * them, and their one result is what came of checking the answer.
 */
import { errorResult } from "../domain/apply-call.ts";
import { isAnswer } from "../domain/candidate.ts";
import type { CallResult } from "../domain/message.ts";
import { repairRequest } from "../domain/output.ts";
import type { CallState } from "../domain/run-state.ts";
import { askAbout, hasGivenUp } from "./check-output.ts";
import { type Draft, resume } from "./draft.ts";
import { appendResult } from "./take-fact.ts";

/** `cut`: why no call of the reply counts, if that is so. False: there is nothing more to do for it now. */
export function moveAnswer(draft: Draft, call: CallState, cut: string | undefined): boolean {
  const result = cut === undefined ? resultOf(draft) : errorResult("not-run", cut);
  if (result) {
    resume(draft);
    appendResult(draft, call.id, result);
  } else askAbout(draft, draft.state.step?.step ?? 0);
  return false;
}

/** Undefined while nobody knows. */
function resultOf(draft: Draft): CallResult | undefined {
  const { state, at } = draft;
  const { calls = [], report } = state.step ?? {};
  if (calls.some((call) => !isAnswer(call, at.output))) {
    // What it calls beside its answer it has not seen the results of: the answer cannot speak for them.
    return errorResult("not-run", "An answer counts only alone. Give it once the results of the other calls are known");
  }
  if (!report || !at.output) return undefined;
  if (report.valid) return { kind: "value", value: "The answer fits the schema" };
  const told = hasGivenUp(draft) ? "The answer does not fit the schema" : repairRequest(report.problems, at.output);
  return errorResult("invalid-input", told);
}
