/** Prompt caches in the words of the packages that know one; to every other package nothing is said. */
import type { JsonObject } from "../../domain/json.ts";
import type { ModelRequest } from "../../ports/provider.ts";
import { markedMessages, type PromptCaching } from "../shared/prompt-cache.ts";
import type { CallSettings, PromptMessage, WithOptions } from "./types.ts";

/** Models of one package have names such as `anthropic.messages`, `vertex.anthropic.messages`, `openai.responses`. */
export function cachingOf(provider: string, said: PromptCaching | undefined): PromptCaching {
  if (said) return said;
  const names = provider.split(".");
  if (names.includes("anthropic")) return "marks";
  return names[0] === "openai" ? "key" : "none";
}

/** As settings, which others go before. */
export function keySettings({ cache }: ModelRequest, caching: PromptCaching): JsonObject {
  return caching === "key" && cache ? { providerOptions: { openai: { promptCacheKey: cache.key } } } : {};
}

/**
 * Of which messages the end is marked; undefined when nothing is. Who sets `cacheControl` for the whole call decides alone:
 * there is room for four marks, and that is one of them.
 */
export function marksFor(
  request: ModelRequest,
  caching: PromptCaching,
  { providerOptions }: CallSettings,
): ReadonlySet<number> | undefined {
  const isDecided = providerOptions?.anthropic?.cacheControl !== undefined;
  return caching === "marks" && request.cache && !isDecided ? markedMessages(request) : undefined;
}

/** Of a message the last part that can have a mark: thoughts cannot. */
export function mark(message: PromptMessage<unknown> | undefined): void {
  if (!message) return;
  if (message.role === "system") return markThis(message);
  const parts: readonly (WithOptions & { readonly type: string })[] = message.content;
  const last = parts.findLast(({ type }) => type !== "reasoning" && type !== "custom");
  if (last) markThis(last);
}

export function markThis(target: WithOptions): void {
  const { anthropic, ...others } = target.providerOptions ?? {};
  target.providerOptions = { ...others, anthropic: { ...anthropic, cacheControl: { type: "ephemeral" } } };
}
