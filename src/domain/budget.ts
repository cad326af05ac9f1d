/** A budget as somebody writes it, and as a run has it. */
import type { DescribedModel } from "./model.ts";
import { isRouted } from "./model-route.ts";
import { Problems, shown } from "./problems.ts";
import type { RunBudget } from "./run.ts";

/** What a run may use up; the step that would go beyond it is not begun. */
export interface BudgetOptions {
  /** Model calls, 50 unless said. */
  readonly steps?: number;
  /** Milliseconds from start to end, waiting included. */
  readonly wallTime?: number;
  /** Input and output tokens together, those of its delegates included. */
  readonly tokens?: number;
  /** Money by the model's prices, that of its delegates included. */
  readonly usd?: number;
  /** How many levels of delegates may be below it, 8 unless said; 0: it delegates nothing. */
  readonly depth?: number;
  /** How many runs it may start through its delegates, 100 unless said. */
  readonly children?: number;
}

export const defaultSteps = 50;
export const defaultDepth = 8;
export const defaultChildren = 100;

const maxSteps = 1_000_000;
const maxUsd = 1_000_000;
const maxDepth = 64;
const maxChildren = 100_000;
const maxWallTimeMs = 366 * 24 * 60 * 60_000;

/** Only what was said. */
export function readBudget(budget: unknown, model: DescribedModel | undefined, problems: Problems): Partial<RunBudget> {
  if (budget === undefined) return {};
  const inner = new Problems(budget, ["steps", "wallTime", "tokens", "usd", "depth", "children"]);
  inner.integer("steps", 1, maxSteps);
  inner.integer("wallTime", 1, maxWallTimeMs);
  inner.integer("tokens", 1, Number.MAX_SAFE_INTEGER);
  inner.integer("depth", 0, maxDepth);
  inner.integer("children", 0, maxChildren);
  inner.optional("usd", isMoney, `must be a number of dollars from 0.000001 to ${maxUsd}`);
  const { steps, wallTime, tokens, usd, depth, children } = (budget ?? {}) as BudgetOptions;
  const isKnown = model === undefined || !isRouted(model); // else its prices are looked at when it is found
  if (usd !== undefined && isKnown && !hasPrices(model)) inner.add(`usd: ${withoutPrices(model)}`);
  problems.include("budget", inner);
  return {
    ...(steps === undefined ? {} : { steps }),
    ...(wallTime === undefined ? {} : { wallTimeMs: wallTime }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(usd === undefined ? {} : { microUsd: Math.round(usd * 1_000_000) }),
    ...(depth === undefined ? {} : { depth }),
    ...(children === undefined ? {} : { children }),
  };
}

function isMoney(usd: unknown): boolean {
  return typeof usd === "number" && usd >= 0.000_001 && usd <= maxUsd;
}

export function hasPrices(model: DescribedModel | undefined): boolean {
  const { inputPerMillion, outputPerMillion } = model?.description?.prices ?? {};
  return [inputPerMillion, outputPerMillion].every((price) => Number.isFinite(price) && Number(price) >= 0);
}

/** Which one, and what to write where. */
function withoutPrices(model: DescribedModel | undefined): string {
  const { provider, model: name } = model?.description ?? {};
  const which = typeof name === "string" ? ` ${shown(`${String(provider)}/${name}`)}` : "";
  return (
    `the model${which} has no prices, so nobody could count; say what it costs in dollars per million tokens, ` +
    "prices: { inputPerMillion: 3, outputPerMillion: 15 } in its description or in fromAiSdk(model, { … }), " +
    "or bound the run by steps or tokens"
  );
}

/** A limit that only one of them has holds. */
export function narrowBudget(most: Partial<RunBudget>, wanted: RunBudget): RunBudget {
  const limits = Object.entries({ ...most, ...wanted }).map(([name, limit]) => {
    const other = most[name as keyof RunBudget] ?? Number.POSITIVE_INFINITY;
    return [name, Math.min(other, limit ?? Number.POSITIVE_INFINITY)];
  });
  return Object.fromEntries(limits) as unknown as RunBudget;
}
