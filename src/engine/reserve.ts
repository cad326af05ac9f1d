/** What a model call may use up, held before it is made: the estimated input, and as long an answer as can be paid for. */
import type { EffectIntended } from "../domain/entry.ts";
import { affordableOutput, emptyLedger, isMetered, leftOf, mostCost, usdOf } from "../domain/ledger.ts";
import type { Outcome } from "../domain/run.ts";
import type { Draft } from "./draft.ts";

/** An answer that is not bounded by the model is held to this. */
const longestAnswer = 8_192;

export type Held = NonNullable<EffectIntended["held"]>;

/** Undefined where nothing is metered; an outcome when not even one token of an answer can be paid for. */
export function reserve(draft: Draft): Held | Outcome | undefined {
  const { budget } = draft.state.created;
  if (!isMetered(budget)) return undefined;
  const { prices, maxOutputTokens = longestAnswer } = draft.at.model;
  const ledger = draft.state.ledger ?? emptyLedger;
  const left = leftOf(budget, ledger);
  const inputTokens = Math.max(draft.at.estimate(draft.entries), ledger.lastInput ?? 0) + keptTokens(draft);
  const outputTokens = Math.min(maxOutputTokens, affordableOutput(left, inputTokens, prices));
  if (outputTokens < 1) return { kind: "stopped", code: "budget", detail: spentText(draft) };
  return { ...mostCost({ inputTokens, outputTokens }, prices), outputTokens };
}

export function isOutcome(held: Held | Outcome | undefined): held is Outcome {
  return held !== undefined && "kind" in held;
}

function spentText({ state }: Draft): string {
  const { tokens, microUsd } = state.created.budget;
  const { spent } = state.ledger ?? emptyLedger;
  const words = [
    ...(tokens === undefined ? [] : [`${spent.tokens} of ${tokens} tokens`]),
    ...(microUsd === undefined ? [] : [`${usdOf(spent.microUsd)} of ${usdOf(microUsd)} USD`]),
  ];
  return `Spent: ${words.join(", ")}; the next model call cannot be paid for`;
}

/** What has come of a reply is sent along when it goes on. */
function keptTokens({ state }: Draft): number {
  const kept = state.step?.model.kept ?? [];
  return kept.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
}
