/**
 * How a provider's prompt cache is used.
 * key: calls of one conversation go where its beginning is cached. marks: the request says where what is cached ends.
 *
 * C1 Marks are where this request ends and where the one before it ended: one is written, the other is found again
 *    however much a step has added.
 * C2 Nothing after the part that comes again has a mark: what is kept there is paid for and never read.
 */
import type { ModelRequest } from "../../ports/provider.ts";

export const promptCaches = ["key", "marks", "none"] as const;
export type PromptCaching = (typeof promptCaches)[number];

/** C1, C2: which messages have a mark at their end. A request ends with what is not the model's. */
export function markedMessages({ cache, messages }: Pick<ModelRequest, "cache" | "messages">): ReadonlySet<number> {
  const isAsked = (at: number): boolean => messages[at]?.role !== "assistant";
  const lastAsked = (before: number): number => {
    let at = before;
    while (at >= 0 && !isAsked(at)) at -= 1;
    return at;
  };
  const end = lastAsked((cache?.stable ?? 0) - 1);
  let reply = end;
  while (reply >= 0 && isAsked(reply)) reply -= 1;
  return new Set([end, lastAsked(reply)].filter((at) => at >= 0));
}
