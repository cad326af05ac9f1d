/** What a model call may use up, held before it is made: the estimated input, and as long an answer as can be paid for. */
import type { EffectIntended } from "../domain/entry.ts";
import { estimated } from "../domain/fit-context.ts";
import { affordableOutput, emptyLedger, isMetered, leftOf, mostCost, usdOf } from "../domain/ledger.ts";
import type { ModelPrices } from "../domain/model.ts";
import type { Outcome } from "../domain/run.ts";
import { overridesOf } from "../domain/step-overrides.ts";
import { describedFor } from "./called-model.ts";
import type { Draft } from "./draft.ts";

/** An answer that is not bounded by the model is held to this. */
const longestAnswer = 8_192;

export type Held = NonNullable<EffectIntended["held"]>;

/** Undefined where nothing is metered; an outcome when not even one token of an answer can be paid for. */
export function reserve(draft: Draft): Held | Outcome | undefined {
  const { budget } = draft.state.created;
  if (!isMetered(budget)) return undefined;
  const { prices, maxOutputTokens: most = longestAnswer } = describedFor(draft);
  const maxOutputTokens = Math.min(most, longestWanted(draft) ?? most);
  const { lastInput = 0 } = draft.state.ledger ?? emptyLedger;
  const inputTokens = Math.max(estimateOf(draft), lastInput) + keptTokens(draft);
  const held = holdOf(draft, { inputTokens, maxOutputTokens, prices });
  return held ?? { kind: "stopped", code: "budget", detail: spentText(draft) };
}

/** Rather too much than too little: what is not used is given back. No call sends more than fits. */
function estimateOf({ at, state, entries }: Draft): number {
  const room = at.room(state);
  return Math.min(estimated(at.candidates(entries), { ...room, ratio: Math.max(1, room.ratio) }), room.tokens);
}

interface Wanted {
  readonly inputTokens: number;
  readonly maxOutputTokens: number;
  readonly prices?: ModelPrices | undefined;
}

function holdOf({ state }: Draft, { inputTokens, maxOutputTokens, prices }: Wanted): Held | undefined {
  const left = leftOf(state.created.budget, state.ledger ?? emptyLedger);
  const outputTokens = Math.min(maxOutputTokens, affordableOutput(left, inputTokens, prices));
  return outputTokens < 1 ? undefined : { ...mostCost({ inputTokens, outputTokens }, prices), outputTokens };
}

/** The same for a summary: undefined where nothing is metered. */
export function holdFor(draft: Draft, wanted: Omit<Wanted, "prices">): Held | "unpaid" | undefined {
  if (!isMetered(draft.state.created.budget)) return undefined;
  return holdOf(draft, { ...wanted, prices: draft.at.summariser.prices }) ?? "unpaid";
}

/** What the run or the step asks for, as far as the model goes; undefined where neither says so. */
export function longestWanted(draft: Draft): number | undefined {
  const { maxOutputTokens: wanted } = overridesOf(draft.state) ?? {};
  const { maxOutputTokens: most = Number.POSITIVE_INFINITY } = describedFor(draft);
  return wanted === undefined ? undefined : Math.min(wanted, most);
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

/** With what is sent, an answer may not be longer than the window: many providers refuse the call else. */
export function fittingAnswer(draft: Draft, wanted: number | undefined): number | undefined {
  const { contextWindow, maxOutputTokens } = describedFor(draft);
  const longest = wanted ?? maxOutputTokens;
  if (contextWindow === undefined || longest === undefined) return wanted;
  const left = Math.max(1, contextWindow - estimateOf(draft));
  return longest > left ? left : wanted;
}

/** What has come of a reply is sent along when it goes on. */
function keptTokens({ state }: Draft): number {
  const kept = state.step?.model.kept ?? [];
  return kept.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
}
