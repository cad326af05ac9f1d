/** How a run ended, read from the store as a value for every outcome. */
import { HoldfastError } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import { textOf } from "../domain/message.ts";
import type { Redactor } from "../domain/redaction.ts";
import type { RunState } from "../domain/run-state.ts";
import { spentOf } from "../domain/run-view.ts";
import { loadState } from "../engine/load.ts";
import type { RunKey } from "../ports/store.ts";
import type { Desk } from "./desk.ts";
import type { RunResult } from "./runtime.ts";

export async function readResult(key: RunKey, desk: Desk): Promise<RunResult<string>> {
  const { state } = await loadState(key, desk.store);
  const { outcome } = state;
  if (!outcome)
    throw new HoldfastError("run-not-completed", `Run ${key.run} has not ended`, { details: { run: key.run } });
  const spent = spentOf(state);
  const facts = { run: key.run, steps: state.stepsEnded, usage: state.usage, ...(spent ? { spent } : {}) };
  const { kind, ...rest } = outcome;
  const output = kind === "completed" ? { output: await readOutput(key, state, desk) } : {};
  return { ...facts, outcome: kind, ...rest, ...output } as RunResult<string>;
}

/** O1: of an agent with an output only what was validated; of any other the text. */
async function readOutput(key: RunKey, state: RunState, desk: Desk): Promise<JsonValue> {
  return state.output ? state.output.value : readAnswer(key, state, desk);
}

async function readAnswer(key: RunKey, state: RunState, desk: Desk): Promise<string> {
  if (state.answer === undefined) return "";
  const [entry] = await desk.store.readRun({ ...key, after: state.answer - 1, limit: 1 });
  return entry?.type === "message-appended" && entry.body.kind === "here" ? textOf(entry.body.message) : "";
}

/** Errors find their way into logs of all kinds: what this one says goes by the rules of redaction. */
export function outputOf(ended: RunResult<string>, redactor: Redactor): string {
  if (ended.outcome === "completed") return ended.output;
  const why = ended.outcome === "failed" ? `: ${redactor.text(ended.error.message)}` : "";
  throw new HoldfastError("run-not-completed", `Run ${ended.run} ended as ${ended.outcome}${why}`, {
    details: { result: redactor.json(ended as unknown as JsonValue) },
  });
}
