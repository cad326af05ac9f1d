/** K11: of the output, at every entry of a journal and so after every commit. */
import { birth, fold } from "../domain/apply.ts";
import { isAnswer } from "../domain/candidate.ts";
import type { Entry } from "../domain/entry.ts";
import { callsOf } from "../domain/message.ts";
import type { OutputSpec } from "../domain/output.ts";
import type { RunState } from "../domain/run-state.ts";

/** The step so far, as its entries tell it: seqs of its reply, and of the reply that has passed. */
interface Seen {
  reply?: number;
  passed?: { readonly reply: number; readonly value: string };
  isReported: boolean;
}

export function outputProblems(entries: readonly Entry[], output: OutputSpec | undefined): string[] {
  const [first] = entries;
  if (first?.type !== "run-created") return [];
  const problems: string[] = [];
  const answers = new Set<string>();
  let state: RunState = birth(first);
  let seen: Seen = { isReported: false };
  let invalid = 0;
  for (const entry of entries) {
    const say = (problem: string): void => void problems.push(`${entry.type} at ${entry.seq}: ${problem}`);
    state = fold(state, [entry]);
    switch (entry.type) {
      case "step-started":
        seen = { isReported: false };
        break;
      case "message-appended":
        if (entry.body.kind !== "here" || entry.body.message.role !== "assistant") break;
        seen.reply = entry.seq;
        for (const call of callsOf(entry.body.message)) if (isAnswer(call, output)) answers.add(call.call);
        break;
      case "output-validated":
        if (!output) say("the agent has no output");
        if (entry.pending) {
          if (!entry.report.valid) invalid += 1; // the other ones follow when they were let through
          break;
        }
        if (seen.reply === undefined) say("there is no answer yet");
        if (seen.isReported) say("its answer was checked before");
        seen.isReported = true;
        if (entry.report.valid) seen.passed = { reply: seen.reply ?? 0, value: JSON.stringify(entry.report.value) };
        else invalid += 1;
        break;
      case "effect-intended":
        if (entry.kind === "model" && output && invalid > output.repairs) say(`asked again after ${invalid} answers`);
        if (entry.call !== undefined && answers.has(entry.call)) say("an answer is no effect");
        break;
      case "call-gated":
        if (answers.has(entry.call)) say("an answer is no effect");
        break;
      case "run-ended":
        if (!output || entry.outcome.kind !== "completed") break;
        if (!seen.passed) say("completed without an output that has passed");
        if (entry.answer !== seen.passed?.reply) say(`${entry.answer} is said to be the answer`);
        break;
    }
    const told = state.output && JSON.stringify(state.output.value);
    if (told !== seen.passed?.value) say(`the output is ${told ?? "none"}`);
  }
  return problems;
}
