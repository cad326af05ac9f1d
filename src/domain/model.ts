/** The model as a definition sees it: something that describes itself. Calling it is the provider port's matter. */
import { shortened } from "./json.ts";
import { Problems } from "./problems.ts";

/** In US dollars per million tokens. */
export interface ModelPrices {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  /** Of input that came from the provider's cache; the price of input unless said. */
  readonly cacheReadPerMillion?: number;
  /** Of input that went into it; the price of input unless said. */
  readonly cacheWritePerMillion?: number;
}

export const modalities = ["text", "image", "file", "audio"] as const;

/** A kind of content that a model may be able to read. */
export type Modality = (typeof modalities)[number];

export interface ModelDescription {
  readonly provider: string;
  readonly model: string;
  /** What it can read; a call with anything else is refused before it is made. Nobody looks unless it is said. */
  readonly accepts?: readonly Modality[];
  /**
   * False: it cannot call tools, so an agent with tools is refused. True: it gives a typed answer by calling one, unless it
   * can be bound.
   */
  readonly toolCalls?: boolean;
  /** It can be bound to a JSON Schema: its provider reads `output` of a request. */
  readonly structuredOutput?: boolean;
  /** Needed for a budget in money. */
  readonly prices?: ModelPrices;
  /** How many tokens fit into a call, its answer included. */
  readonly contextWindow?: number;
  /** The most tokens that one answer can have. */
  readonly maxOutputTokens?: number;
}

/** Which of several models an answer came from. */
export interface AnsweredBy {
  readonly provider: string;
  readonly model: string;
}

export interface PricedAnswerer extends AnsweredBy {
  readonly prices?: ModelPrices;
}

/** What one of several models says of itself with its answer; undefined when that names no model. */
export function readAnsweredBy(said: unknown): PricedAnswerer | undefined {
  const { provider, model, prices } = (said ?? {}) as Partial<ModelDescription>;
  if (typeof provider !== "string" || typeof model !== "string") return undefined;
  const names = { provider: shortened(provider), model: shortened(model) };
  return isPrices(prices) ? { ...names, prices } : names;
}

export function isPrices(prices: unknown): prices is ModelPrices {
  const { inputPerMillion, outputPerMillion, cacheReadPerMillion, cacheWritePerMillion } = (prices ??
    {}) as Partial<ModelPrices>;
  const isPrice = (price: unknown): boolean => Number.isFinite(price) && Number(price) >= 0;
  const more = [cacheReadPerMillion, cacheWritePerMillion].filter((price) => price !== undefined);
  return [inputPerMillion, outputPerMillion, ...more].every(isPrice);
}

export interface DescribedModel {
  readonly description: ModelDescription;
}

const tokenLimit = 1_000_000_000;
const dearest = 1_000_000;

/** Of what somebody says of a model besides its name. */
export function descriptionProblems(description: unknown): readonly string[] {
  const known = ["accepts", "toolCalls", "structuredOutput", "prices", "contextWindow", "maxOutputTokens"];
  const problems = new Problems(description, known);
  const isFlag = (value: unknown): boolean => typeof value === "boolean";
  problems.optional("accepts", isModalities, `must be a list of ${modalities.join(", ")}`);
  problems.optional("toolCalls", isFlag, "must be true or false");
  problems.optional("structuredOutput", isFlag, "must be true or false");
  problems.integer("contextWindow", 1, tokenLimit);
  problems.integer("maxOutputTokens", 1, tokenLimit);
  const { prices } = (description ?? {}) as Partial<ModelDescription>;
  if (prices !== undefined) problems.include("prices", priceProblems(prices));
  return problems.found;
}

function isModalities(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0 && list.every((each) => modalities.includes(each as Modality));
}

function priceProblems(prices: unknown): Problems {
  const needed = ["inputPerMillion", "outputPerMillion"];
  const further = ["cacheReadPerMillion", "cacheWritePerMillion"];
  const problems = new Problems(prices, [...needed, ...further]);
  const isPrice = (price: unknown): boolean => typeof price === "number" && price >= 0 && price <= dearest;
  const rule = `must be dollars per million tokens, from 0 to ${dearest}`;
  for (const name of needed) problems.check(name, isPrice, rule);
  for (const name of further) problems.optional(name, isPrice, rule);
  return problems;
}
