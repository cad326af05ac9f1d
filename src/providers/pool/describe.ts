/** What a pool says of itself: what every member can do, and what the dearest one costs. */
import { type Modality, type ModelDescription, type ModelPrices, modalities } from "../../domain/model.ts";

/**
 * Only what all can do is promised. Where some do not say how much fits, or what they read, what the others say counts: more
 * would be a guess. A price is known only if all have one.
 */
export function describePool(members: readonly ModelDescription[]): ModelDescription {
  const contextWindow = smallest(members.map((each) => each.contextWindow));
  const maxOutputTokens = smallest(members.map((each) => each.maxOutputTokens));
  const prices = dearest(members.map((each) => each.prices));
  return {
    provider: "pool",
    model: members.map(({ provider, model }) => `${provider}/${model}`).join(" | "),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(prices ? { prices } : {}),
    ...(members.every((each) => each.structuredOutput) ? { structuredOutput: true } : {}),
    ...toolCallsOf(members),
    ...acceptsOf(members.flatMap(({ accepts }) => (accepts ? [accepts] : []))),
  };
}

/** One that cannot is enough for "no", and one that does not say is enough for not knowing. */
function toolCallsOf(members: readonly ModelDescription[]): Pick<ModelDescription, "toolCalls"> {
  if (members.some(({ toolCalls }) => toolCalls === false)) return { toolCalls: false };
  return members.every(({ toolCalls }) => toolCalls) ? { toolCalls: true } : {};
}

function acceptsOf(said: readonly (readonly Modality[])[]): Pick<ModelDescription, "accepts"> {
  return said.length === 0 ? {} : { accepts: modalities.filter((kind) => said.every((each) => each.includes(kind))) };
}

function smallest(sizes: readonly (number | undefined)[]): number | undefined {
  const known = sizes.filter((size) => size !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** The highest of each, so that what is held for a call is enough whoever answers. */
function dearest(all: readonly (ModelPrices | undefined)[]): ModelPrices | undefined {
  const known = all.filter((prices) => prices !== undefined);
  if (known.length < all.length) return undefined;
  const highest = (price: (prices: ModelPrices) => number): number => Math.max(...known.map(price));
  return {
    inputPerMillion: highest((each) => each.inputPerMillion),
    outputPerMillion: highest((each) => each.outputPerMillion),
    ...(known.some((each) => each.cacheReadPerMillion !== undefined)
      ? { cacheReadPerMillion: highest((each) => each.cacheReadPerMillion ?? each.inputPerMillion) }
      : {}),
    ...(known.some((each) => each.cacheWritePerMillion !== undefined)
      ? { cacheWritePerMillion: highest((each) => each.cacheWritePerMillion ?? each.inputPerMillion) }
      : {}),
  };
}
