/**
 * Ledger: what of a run's tokens and money is spent, and what is held for effects in flight. Escrow: what is held belongs
 * to its holder until it has settled, so that many may spend at once and never more than there is.
 *
 * B1 Nothing is held that is not left: spent and held together never exceed the limit by a hold.
 * B2 A holder settles once, with what it really cost. More than it held is an overrun: it is seen, and nothing more is held.
 * B3 A holder that was lost has spent what it held: nobody knows better.
 */
import { HoldfastError } from "./errors.ts";
import type { ModelPrices } from "./model.ts";
import type { RunBudget, Usage } from "./run.ts";

/** Money is counted in millionths of a dollar, as a whole number. */
export interface Amount {
  readonly tokens: number;
  readonly microUsd: number;
}

export interface Ledger {
  readonly spent: Amount;
  readonly held: Readonly<Record<string, Amount>>;
  /** What the newest model call sent, as its provider counted: the next one sends no less. */
  readonly lastInput?: number;
}

export const emptyLedger: Ledger = { spent: { tokens: 0, microUsd: 0 }, held: {} };

export type Limits = Pick<RunBudget, "tokens" | "microUsd">;

export function isMetered({ tokens, microUsd }: Limits): boolean {
  return tokens !== undefined || microUsd !== undefined;
}

/** Below zero after an overrun, infinite where nothing is limited. */
export function leftOf({ tokens, microUsd }: Limits, ledger: Ledger): Amount {
  const taken = sum([ledger.spent, ...Object.values(ledger.held)]);
  return {
    tokens: (tokens ?? Number.POSITIVE_INFINITY) - taken.tokens,
    microUsd: (microUsd ?? Number.POSITIVE_INFINITY) - taken.microUsd,
  };
}

/** B1. */
export function hold(
  ledger: Ledger,
  holder: string,
  { amount, limits }: { readonly amount: Amount; readonly limits: Limits },
): Ledger {
  const left = leftOf(limits, ledger);
  const isMore = amount.tokens > left.tokens || amount.microUsd > left.microUsd;
  if (isMore || Object.hasOwn(ledger.held, holder)) {
    throw new HoldfastError("illegal-transition", `${holder} cannot hold ${show(amount)}: ${show(left)} is left`);
  }
  return { ...ledger, held: { ...ledger.held, [holder]: amount } };
}

/** B2, B3: without a cost it has spent what it held. */
export function settle(ledger: Ledger, holder: string, cost?: Amount): Ledger {
  if (!Object.hasOwn(ledger.held, holder)) return ledger;
  const { [holder]: held, ...rest } = ledger.held;
  return { ...ledger, spent: sum([ledger.spent, cost ?? (held as Amount)]), held: rest };
}

export const nothing: Amount = { tokens: 0, microUsd: 0 };

function sum(amounts: readonly Amount[]): Amount {
  let { tokens, microUsd } = nothing;
  for (const amount of amounts) {
    tokens += amount.tokens;
    microUsd += amount.microUsd;
  }
  return { tokens, microUsd };
}

function show({ tokens, microUsd }: Amount): string {
  return `${tokens} tokens, ${usdOf(microUsd)} USD`;
}

export function usdOf(microUsd: number): number {
  return microUsd / 1_000_000;
}

/** A price per million tokens in dollars is one per token in millionths of a dollar. Rounded up: never less than it cost. */
export function costOf(usage: Usage, prices: ModelPrices | undefined): Amount {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const tokens = inputTokens + outputTokens;
  if (!prices) return { tokens, microUsd: 0 };
  const { inputPerMillion, outputPerMillion } = prices;
  const { cacheReadPerMillion = inputPerMillion, cacheWritePerMillion = inputPerMillion } = prices;
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const input =
    fresh * inputPerMillion + cacheReadTokens * cacheReadPerMillion + cacheWriteTokens * cacheWritePerMillion;
  return { tokens, microUsd: Math.ceil(input + outputTokens * outputPerMillion) };
}

/** The most that so many tokens can cost: all of the input may go into the cache, which may cost more than input does. */
export function mostCost(usage: Pick<Usage, "inputTokens" | "outputTokens">, prices: ModelPrices | undefined): Amount {
  if (!prices) return costOf(usage, prices);
  const { inputPerMillion, cacheReadPerMillion = 0, cacheWritePerMillion = 0 } = prices;
  const dearest = Math.max(inputPerMillion, cacheReadPerMillion, cacheWritePerMillion);
  return costOf(usage, { inputPerMillion: dearest, outputPerMillion: prices.outputPerMillion });
}

/** How many tokens an answer may have, when so many go in; 0 when not even one is affordable. */
export function affordableOutput(left: Amount, input: number, prices: ModelPrices | undefined): number {
  const { outputPerMillion = 0 } = prices ?? {};
  const afterInput = left.microUsd - mostCost({ inputTokens: input, outputTokens: 0 }, prices).microUsd;
  if (afterInput < 0) return 0;
  const byMoney = outputPerMillion === 0 ? Number.POSITIVE_INFINITY : Math.floor(afterInput / outputPerMillion);
  return Math.max(0, Math.min(left.tokens - input, byMoney));
}
