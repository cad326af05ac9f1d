/** Turns what has happened into entries. Nothing here starts anything. */
import { errorResult } from "../domain/apply-call.ts";
import { isFinal } from "../domain/candidate.ts";
import type { EntryBody, Verdict } from "../domain/entry.ts";
import type { ErrorRecord } from "../domain/errors.ts";
import { presentFrom } from "../domain/fit-context.ts";
import { type EffectId, replyId, resultId } from "../domain/ids.ts";
import type { CallResult, Message } from "../domain/message.ts";
import type { CallState } from "../domain/run-state.ts";
import { overridesOf } from "../domain/step-overrides.ts";
import { takeReport } from "./check-output.ts";

import { act, type Draft, emit } from "./draft.ts";
import { isMet, takeRan } from "./moments.ts";
import { takeCompaction } from "./place-summary.ts";
import { isTruncated, joined, mayGoOn } from "./recover-reply.ts";
import { isOutcome, reserve } from "./reserve.ts";
import { retryAt } from "./retry.ts";
import { spendingOf } from "./spending.ts";
import { takeRemote } from "./take-turn.ts";
import type { Fact, ModelOutcome } from "./work.ts";
import { writeState } from "./write-state.ts";

export function takeFact(draft: Draft, fact: Fact): void {
  switch (fact.kind) {
    case "model-settled":
      return takeModel(draft, fact);
    case "tool-settled":
      return takeTool(draft, fact);
    case "judged":
      return takeVerdict(draft, fact.call, fact.verdict);
    case "output-checked":
      return takeReport(draft, fact);
    case "turn-settled":
    case "task-seen":
    case "abort-settled":
      return isOpen(draft, fact) ? takeRemote(draft, fact) : undefined;
    case "phase-ran":
      return takeRan(draft, fact.order, fact.ran);
    default:
      fact satisfies never;
  }
}

type OpenFact = Extract<Fact, { effect: unknown }>;

/** D2. */
export function isOpen(draft: Pick<Draft, "state">, fact: Pick<OpenFact, "effect" | "attempt">): boolean {
  const { step, compaction, remote } = draft.state;
  const effects = [step?.model, compaction?.effect, remote?.abort, ...(step?.calls.map((call) => call.effect) ?? [])];
  return effects.some((effect) => effect?.id === fact.effect && effect.open?.attempt === fact.attempt);
}

function takeModel(draft: Draft, fact: ModelFact): void {
  if (!isOpen(draft, fact)) return;
  const { effect, attempt, outcome } = fact;
  if (effect === draft.state.compaction?.effect.id) {
    return takeCompaction(draft, outcome, outcome.kind === "reply" ? spendingOf(draft, outcome, "summary") : {});
  }
  switch (outcome.kind) {
    case "reply":
      return takeReply(draft, fact, outcome);
    case "failed":
      return takeFailure(draft, fact, outcome);
    case "aborted":
    case "not-made":
      return act(draft, { type: "effect-settled", effect, attempt, result: { kind: outcome.kind } });
    default:
      outcome satisfies never;
  }
}

type ModelFact = Extract<Fact, { kind: "model-settled" }>;
type Replied = Extract<ModelOutcome, { kind: "reply" }>;

function takeFailure(draft: Draft, fact: ModelFact, outcome: Extract<ModelOutcome, { kind: "failed" }>): void {
  const { effect, attempt } = fact;
  const { error, retry, kept, retryAfterMs: afterMs, begun } = outcome;
  const { failures = 0, kept: before } = draft.state.step?.model ?? {};
  const { deadlineAt } = draft.state.created;
  const again = mayBeCut(draft, error, failures)
    ? draft.at.now // it is cut, and then it may fit
    : retryAt({ retry, failures: failures + 1, effect, afterMs, deadlineAt }, draft.at);
  const more = {
    ...(again === undefined ? {} : { retryAt: again }),
    ...(begun ? { begun: true as const } : {}),
    ...(kept && again !== undefined ? { kept: joined(before, kept) } : {}),
  };
  act(draft, { type: "effect-settled", effect, attempt, result: { kind: "failed", error, retry, ...more } });
}

/** How often a call that a provider finds too long is cut and made again: to an eighth. */
const cuts = 3;

function mayBeCut(draft: Draft, { code }: ErrorRecord, failures: number): boolean {
  if (code !== "model-context-overflow" || failures >= cuts) return false;
  return presentFrom(draft.at.candidates(draft.entries).messages) > 0;
}

/** As often as a call may be tried at all, and while it can be paid for: else what has come is the answer. */
function mayGoFurther(draft: Draft, fact: ModelFact, reply: Replied): boolean {
  const { failures = 0 } = draft.state.step?.model ?? {};
  const goesOn = mayGoOn(draft.at.output, draft.at.hooked("output-gate"));
  const isWanted = overridesOf(draft.state)?.maxOutputTokens !== undefined; // that long, and no longer
  if (failures + 1 >= draft.at.limits.modelAttempts || isWanted || !isTruncated(reply, goesOn)) return false;
  const trial = { ...draft, entries: [...draft.entries] };
  takeTruncated(trial, fact, reply);
  return !isOutcome(reserve(trial));
}

function takeTruncated(draft: Draft, fact: ModelFact, reply: Replied): void {
  const { effect, attempt } = fact;
  const error = { code: "model-truncated", message: "The answer was cut at the model's output limit" };
  const kept = joined(draft.state.step?.model.kept, reply.parts);
  const again = { retry: "later", retryAt: draft.at.now, begun: true } as const;
  const result = { kind: "failed", error, ...again, kept, ...spendingOf(draft, reply) } as const;
  act(draft, { type: "effect-settled", effect, attempt, result });
}

function takeReply(draft: Draft, fact: ModelFact, reply: Replied): void {
  const { effect, attempt } = fact;
  if (mayGoFurther(draft, fact, reply)) return takeTruncated(draft, fact, reply);
  const { kept } = draft.state.step?.model ?? {};
  const { run } = draft.state.created.identity;
  const step = draft.state.step?.step ?? 0;
  const message: Message = {
    id: replyId(run, step),
    role: "assistant",
    parts: joined(kept, reply.parts),
    visibility: "all",
    producer: { run, step },
  };
  const { finish, cut } = reply;
  const why = cut ? { cut } : {};
  const result = { kind: "done", message: message.id, finish, ...spendingOf(draft, reply), ...why } as const;
  const isHeld = draft.at.hooked("output-gate") && isFinal(message, draft.at.output);
  act(draft, { type: "effect-settled", effect, attempt, result, ...(isHeld ? { reply: message } : {}) });
  if (!isHeld) act(draft, { type: "message-appended", body: { kind: "here", message } });
}

function takeTool(draft: Draft, fact: Extract<Fact, { kind: "tool-settled" }>): void {
  if (!isOpen(draft, fact)) return;
  const { effect, attempt, settled } = fact;
  const by = draft.state.step?.calls.find((call) => call.id === fact.call)?.tool ?? "?";
  const unkept =
    fact.writes &&
    writeState(
      draft,
      fact.writes.map((write) => ({ by, write })),
    );
  const result = unkept
    ? errorResult("invalid-result", `The tool ran, but its state cannot be kept: ${unkept.problem}`)
    : fact.result;
  act(draft, { type: "effect-settled", effect, attempt, result: settled });
  if (!result) return;
  if (isMet(draft, "after-tool")) draft.answered.set(fact.call, { effect, result });
  else appendResult(draft, fact.call, result);
}

function takeVerdict(draft: Draft, id: CallState["id"], verdict: Verdict): void {
  const call = draft.state.step?.calls.find((each) => each.id === id);
  if (call?.status !== "proposed") return;
  act(draft, { type: "call-gated", call: id, verdict: call.edit ? askAgain(verdict) : verdict });
}

/** A person's edit that the worker's schema refuses opens a new ticket that names the problem. */
function askAgain(verdict: Verdict): Verdict {
  if (verdict.kind !== "refuse" || verdict.by !== undefined) return verdict;
  return { kind: "ask", ticket: "approval", prompt: "The edited input does not fit", problem: verdict.message };
}

/** The call's one result. Also used by the finaliser, so it does not resume a waiting run by itself. */
export function appendResult(draft: Draft, id: CallState["id"], result: CallResult): void {
  const call = draft.state.step?.calls.find((each) => each.id === id);
  if (!call || call.status === "settled") return;
  const { run } = draft.state.created.identity;
  const message: Message = {
    id: resultId(id),
    role: "tool",
    parts: [{ type: "tool-result", call: id, tool: call.tool, result }],
    visibility: "all",
    producer: { run, step: draft.state.step?.step ?? 0 },
  };
  emit(draft, { type: "message-appended", body: { kind: "here", message } });
}

/** What tools and models answered and nobody has passed on unchanged is written with the settlement, or it would be lost. */
export function withAnswers(draft: Draft): readonly EntryBody[] {
  const entries = draft.entries.map((entry) => withoutReply(entry, draft.entries));
  const { answered } = draft;
  if (answered.size === 0) return entries;
  const passedOn = new Set(entries.flatMap(resultsIn));
  const kept = new Map<EffectId, CallResult>();
  for (const { effect, result } of answered.values()) if (!passedOn.has(result)) kept.set(effect, result);
  return entries.map((entry) => {
    const result = entry.type === "effect-settled" ? kept.get(entry.effect) : undefined;
    return entry.type === "effect-settled" && result ? { ...entry, answered: result } : entry;
  });
}

/** Bodies are stored once: an answer that was let through at once is in its message. */
function withoutReply(entry: EntryBody, entries: readonly EntryBody[]): EntryBody {
  if (entry.type !== "effect-settled" || !entry.reply) return entry;
  const { reply, ...settled } = entry;
  const isSaid = entries.some(
    (each) => each.type === "message-appended" && each.body.kind === "here" && each.body.message === reply,
  );
  return isSaid ? settled : entry;
}

function resultsIn(entry: EntryBody): readonly CallResult[] {
  if (entry.type !== "message-appended" || entry.body.kind !== "here") return [];
  return entry.body.message.parts.flatMap((part) => (part.type === "tool-result" ? [part.result] : []));
}
